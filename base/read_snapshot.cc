#include "base/read_snapshot.h"

namespace clawmark {

ReadSnapshot::ReadSnapshot(Database& db)
    : db_(db), begun_(!db.in_transaction() && db.run("BEGIN").ok()) {}

ReadSnapshot::~ReadSnapshot() {
  if (!begun_ || !db_.in_transaction()) return;
  // A reader has nothing to lose: when COMMIT is refused, ROLLBACK is as good.
  if (!db_.run("COMMIT").ok()) (void)db_.run("ROLLBACK");
}

}  // namespace clawmark
