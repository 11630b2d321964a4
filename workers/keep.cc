#include "workers/keep.h"

#include "base/hash.h"
#include "base/secrets.h"
#include "log/cursor.h"
#include "log/event_log.h"
#include "projections/messages.h"
#include "projections/rebuild.h"

namespace clawmark {
namespace {

constexpr std::size_t kTextsAtOnce = 64;  // in one step: others want the writer, too

}  // namespace

Result<std::int64_t> KeepPort::pending(TimeMs) {
  if (bodies_.retention() != Retention::kVerbatim) return std::int64_t{0};
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(store_.db()));
  return head.value - cursor.position.value;
}

Result<std::shared_ptr<const Batch>> KeepPort::load(const Load&, TimeMs now) {
  auto batch = std::make_shared<Batch>();
  texts_.clear();
  CLAWMARK_ASSIGN(const std::int64_t left, pending(now));
  if (left == 0) return std::shared_ptr<const Batch>(std::move(batch));
  CLAWMARK_ASSIGN(const CursorState cursor, load_cursor(store_.db(), id()));
  // Up to here the index knows which messages were forgotten or deleted.
  CLAWMARK_ASSIGN(const Seq end, folded_through(store_.db(), "messages"));
  from_ = to_ = cursor.position;
  if (from_ >= end) return std::shared_ptr<const Batch>(std::move(batch));
  const std::vector<std::string_view> types = {event_type::kMessageObserved};
  CLAWMARK_ASSIGN(const auto events,
                  EventLog::read(store_.db(), cursor.position, kTextsAtOnce, types));
  to_ = events.size() < kTextsAtOnce ? end : std::min(end, events.back().seq);
  std::vector<Seq> seen, wanted;
  for (const Event& event : events) {
    if (event.seq <= to_ && !event.redacted) seen.push_back(event.seq);
  }
  CLAWMARK_ASSIGN(const auto rows, read_messages(store_.db(), seen));
  for (const MessageRow& row : rows) {
    if (row.state != "deleted") wanted.push_back(row.seq);
  }
  CLAWMARK_ASSIGN(const auto bodies, bodies_.get(store_.db(), wanted));
  CLAWMARK_TRY(patience_.check(bodies, now));
  for (const Body& body : bodies) {
    if (body.state == BodyState::kSource && !holds_secret(body.text)) texts_.push_back(body.text);
  }
  batch->passed = static_cast<std::size_t>(left);
  return std::shared_ptr<const Batch>(std::move(batch));
}

// Forgetting runs on the same thread, so nothing is forgotten between load and commit.
Status KeepPort::commit(const Commit&, TimeMs now) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store_.db()));
  for (const std::string& text : texts_) {
    CLAWMARK_TRY(bodies_.put(txn, sha256(text), text));
  }
  CLAWMARK_TRY(advance_cursor(txn, id(), from_, to_, now));
  return txn.commit();
}

}  // namespace clawmark
