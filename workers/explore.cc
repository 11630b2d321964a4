#include "workers/explore.h"

#include <algorithm>

#include "base/hash.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "log/graph_events.h"
#include "models/explore/exploration.h"
#include "projections/rebuild.h"
#include "sources/text_cleaner.h"

namespace clawmark {
namespace {

constexpr std::size_t kScanEvents = 2000;  // in one slice
constexpr std::size_t kTextsMax = 4;       // likewise, as each may be long
constexpr std::string_view kTypes[] = {event_type::kMessageObserved};

NewEvent explored_event(const Event& message, const LargePart& part, std::size_t ordinal,
                        std::string_view text, bool whole) {
  const std::string_view content = text.substr(part.start, part.length);
  const Hash256 hash = sha256(content);
  Exploration found = explore(content, part.name, part.mime);
  NewEvent event;
  event.type = event_type::kFileExplored;
  event.scope = message.scope;
  event.dedupe_key = "file:" + std::string(kExplorerVersion) + ":" +
                     std::to_string(message.seq.value) + ":" + std::to_string(ordinal);
  event.occurred = message.occurred;
  event.payload = {{"message", message.seq.value},
                   {"entry_id", get_string(message.payload, "entry_id")},
                   {"id", "lf_" + to_hex(hash).substr(0, 16)},
                   {"sha256", to_hex(hash)},
                   {"text_sha256", get_string(message.payload, "sha256")},
                   {"name", part.name},
                   {"mime", part.mime},
                   {"kind", std::move(found.kind)},
                   {"bytes", part.length},
                   {"tokens", rough_tokens(content)},
                   {"start", part.start},
                   {"whole", whole},
                   {"explorer", kExplorerVersion},
                   {"summary", std::move(found.summary)}};
  return event;
}

// What was said, without the host's envelope around it: the same content has one id, whoever sent
// it, and shows its own kind.
std::string_view said_in(std::string_view raw) {
  const std::string said = clean_text(raw);
  const auto at = said.empty() ? std::string_view::npos : raw.find(said);
  if (at == std::string_view::npos) return raw;
  const std::size_t end = at + said.size();
  const std::size_t from =
      trim(raw.substr(0, at)).empty() ? 0 : at;  // blanks around it are its own
  const std::size_t to = trim(raw.substr(end)).empty() ? raw.size() : end;
  return raw.substr(from, to - from);
}

}  // namespace

bool ExplorePort::may_be_large(const Event& event) const {
  const auto bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(0, get_int(event.payload, "bytes")));
  return !event.redacted && bytes + kCharsPerToken > tokens_min_ * kCharsPerToken &&
         get_string(event.payload, "noise") != "own_call";
}

Result<std::shared_ptr<const Batch>> ExplorePort::load(const Load&, TimeMs now) {
  auto batch = std::make_shared<Batch>();
  explored_.clear();
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
  // As with all that is read of messages: once the index knows where they stand.
  CLAWMARK_ASSIGN(const Seq end, folded_through(store_.db(), "messages"));
  from_ = to_ = cursor.position;
  if (from_ >= end) return std::shared_ptr<const Batch>(std::move(batch));
  CLAWMARK_ASSIGN(const auto events, EventLog::read(store_.db(), from_, kScanEvents, kTypes));
  to_ = events.size() < kScanEvents ? end : events.back().seq;
  std::vector<Event> large;
  for (const Event& event : events) {
    if (event.seq > end) {
      to_ = std::min(to_, end);
      break;
    }
    if (!may_be_large(event)) continue;
    large.push_back(event);
    if (large.size() < kTextsMax) continue;
    to_ = event.seq;  // the rest in the next slice
    break;
  }
  CLAWMARK_TRY(explore_texts(large, now));
  batch->passed = 1;
  batch->pending = end.value - to_.value;
  return std::shared_ptr<const Batch>(std::move(batch));
}

Status ExplorePort::explore_texts(const std::vector<Event>& events, TimeMs now) {
  std::vector<Seq> wanted;
  for (const Event& event : events) wanted.push_back(event.seq);
  if (wanted.empty()) return Ok{};
  CLAWMARK_ASSIGN(const auto bodies, bodies_.get(store_.db(), wanted));
  CLAWMARK_TRY(patience_.check(bodies, now));
  for (std::size_t n = 0; n < events.size() && n < bodies.size(); ++n) {
    if (bodies[n].state == BodyState::kGone) continue;  // counted where texts are
    const std::string& text = bodies[n].text;
    const std::string_view said = said_in(text);
    std::size_t ordinal = 0;
    for (LargePart& part : large_parts(said, tokens_min_)) {
      const bool whole = part.start == 0 && part.length == said.size();
      part.start += static_cast<std::size_t>(said.data() - text.data());
      explored_.push_back(explored_event(events[n], part, ordinal++, text, whole));
    }
  }
  return Ok{};
}

Status ExplorePort::commit(const Commit&, TimeMs now) {
  std::vector<Seq> asked;
  for (const NewEvent& event : explored_) asked.push_back({get_int(event.payload, "message")});
  CLAWMARK_ASSIGN(const auto rows, read_messages(store_.db(), asked));
  // What was forgotten since it was read is not written.
  std::erase_if(explored_, [&](const NewEvent& event) {
    const std::int64_t message = get_int(event.payload, "message");
    return std::none_of(rows.begin(), rows.end(), [&](const MessageRow& row) {
      return row.seq.value == message && row.state != "deleted";
    });
  });
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  if (!explored_.empty()) CLAWMARK_TRY(store_.log().append(txn, explored_));
  CLAWMARK_TRY(advance_cursor(txn, id(), from_, to_, now));
  CLAWMARK_TRY(txn.commit());
  explored_.clear();
  return Ok{};
}

Result<std::int64_t> ExplorePort::pending(TimeMs) {
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
  CLAWMARK_ASSIGN(const auto unseen,
                  store_.db().query_int("SELECT count(*) FROM events WHERE type = ? AND seq > ?",
                                        event_type::kMessageObserved, cursor.position.value));
  return unseen.value_or(0);
}

}  // namespace clawmark
