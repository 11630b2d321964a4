#pragma once
// Where messages stand: in which sessions each was seen, which of those the user deleted, and which
// messages lie off a session's active path. Every projection that cares keeps its own copy, under
// its own prefix, so that each folds alone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/event.h"
#include "projections/tables.h"

namespace clawmark {

// Active: on the active path of a conversation that lives, a conversation being all sessions of one
// key. A rewind copies history into a further session and leaves the old one as it was: so off the
// path in one of them is off the path of the conversation. Rewound: so in all conversations that
// live. Deleted: in no session that lives, or forgotten. Unknown: never sighted here.
enum class Standing { kUnknown, kActive, kRewound, kDeleted };
std::string_view to_string(Standing standing);

class StandingLedger {
 public:
  // What a forgotten message that is only the source of a forgotten fact counts as: deleted where
  // messages are shown, as it was where other facts rest upon it (`sources_stand`).
  explicit StandingLedger(Tables& tables, bool sources_stand = false)
      : tables_(tables), sources_stand_(sources_stand) {}

  static std::string_view ddl();   // with '@' and '#'
  static std::string_view drop();  // likewise

  Status sight(Seq message, std::string_view agent, std::string_view session_id,
               std::string_view session_key);
  // Of session.branch: the messages that changed sides. An older revision than the one known
  // changes nothing. The agent database's word goes before the transcripts'.
  Result<std::vector<Seq>> branch(const Event& event);
  // Of session.deleted: the messages that stood in it.
  Result<std::vector<Seq>> remove_session(std::string_view agent, std::string_view session_id);
  // Of message.forgotten, session.forgotten and person.forgotten: the messages known here that it
  // takes away.
  Result<std::vector<Seq>> forget(const Event& event);
  // Of message.observed: whether it was forgotten before it was seen here (an old text under a new
  // carrier, an import), or answers what was.
  Status observe(const Event& event);
  Result<Standing> standing(Seq message);
  // Forgotten, and only as the source of a fact.
  Result<bool> is_source_only(Seq message);
  Result<std::vector<Seq>> session_messages(std::string_view agent, std::string_view session_id);

 private:
  Result<std::vector<Seq>> inactive(std::string_view agent, std::string_view session_id);
  Status take_away(Seq message, bool keep_facts);
  Result<std::optional<bool>> forgotten_ahead(const Event& event);  // true: facts are kept

  Tables& tables_;
  bool sources_stand_;
};

}  // namespace clawmark
