#pragma once
// Items that a worker set aside: never dropped in silence. The events batch.parked and
// batch.retried are the history, the table `parked` is the present.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/cursor.h"
#include "log/store.h"

namespace clawmark {

struct ParkNote {
  Seq message;
  std::string reason;  // bounded vocabulary
  std::string detail;  // for people; secrets and length are dealt with here
  int attempts = 0;
};

// Of a message whose text cannot be had: for good, or as long as its carrier cannot be read
// ("source_away": tried again by retry_away()).
ParkNote no_text_note(Seq message, bool away);
Status park_message(Transaction& txn, EventLog& log, const WorkerId& worker, const ParkNote& note,
                    TimeMs now);
// The item went through after all.
Status unpark_message(Transaction& txn, const WorkerId& worker, Seq message);
Result<bool> is_parked(Database& db, const WorkerId& worker, Seq message);
// Parked items that somebody asked to try again.
Result<std::vector<Seq>> retry_wanted(Database& db, const WorkerId& worker, std::size_t limit);
// Asks for another try of every parked item (of one worker when `worker` is not empty, of one item
// when `event` is not zero); how many there are, those that were asked for before not counted.
// Error: not_found "not_parked" when nothing is parked under that number.
Result<std::size_t> retry_parked(Store& store, std::string_view worker, Seq event, TimeMs now);
// The same for what waits for this carrier of this agent (empty: of all), which can be read again.
Result<std::size_t> retry_away(Store& store, std::string_view carrier, std::string_view agent,
                               TimeMs now);
Result<std::int64_t> count_parked(Database& db, std::string_view worker);

}  // namespace clawmark
