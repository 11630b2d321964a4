#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "log/event_log.h"
#include "projections/projection.h"
#include "schema/schema.h"
#include "tests/fuzz/targets.h"

namespace clawmark::fuzz {
namespace {

constexpr const char* kTypes[] = {event_type::kMessageObserved,     event_type::kMessageSighted,
                                  event_type::kSessionBranch,       event_type::kSessionDeleted,
                                  event_type::kSessionMarked,       event_type::kSourceEpoch,
                                  event_type::kSourceFallback,      event_type::kFactStated,
                                  event_type::kFactForgotten,       event_type::kFactExpired,
                                  event_type::kExtractionCompleted, event_type::kBatchParked,
                                  event_type::kConfigChanged,       "unknown.type"};

// A log and two projections, made anew now and then so that it stays small.
struct Store {
  Store() {
    bool made = true;
    for (const Migration& migration : migrations())
      made &= db.exec(std::string(migration.sql)).ok();
    for (const auto& projection : projections) made &= db.exec(projection->ddl(1)).ok();
    require(made, "the log is made");
  }
  Database db = Database::open_memory().value();
  ManualClock clock;
  EventLog log{clock, "fuzz"};
  std::array<std::unique_ptr<Projection>, 2> projections = {make_messages_projection(),
                                                            make_facts_projection({})};
  int events = 0;
};

}  // namespace

// The first byte says the type, the rest is the payload: JSON, or the text of a member.
void fuzz_event(std::string_view data) {
  static auto store = std::make_unique<Store>();
  if (++store->events > 300) store = std::make_unique<Store>();
  NewEvent event;
  event.type = kTypes[data.empty() ? 0 : static_cast<unsigned char>(data[0]) % std::size(kTypes)];
  const std::string_view text = data.substr(std::min<std::size_t>(1, data.size()));
  event.scope.agent = "main";
  event.scope.session_key = "agent:main:main";
  event.scope.lane = Lane::kDirect;
  event.scope.sender = "owner";
  event.dedupe_key = "fuzz:" + std::to_string(store->events);
  const auto parsed = parse_json(text);
  if (parsed.ok() && parsed->is_object()) {
    event.payload = parsed->get_object();
  } else {
    event.payload = {{"value", json::string(text)}};
  }
  auto txn = Transaction::begin(store->db);
  require(txn.ok(), "a transaction begins");
  const auto appended = store->log.append(*txn, event);
  if (!appended.ok()) {
    require(appended.error().kind == ErrorKind::kInvalid, "an event that is refused is invalid");
    return;
  }
  const auto back = EventLog::read(store->db, {appended->head.value - 1}, 1);
  require(back.ok() && back->size() == 1, "what was appended can be read");
  for (const auto& projection : store->projections) {
    const auto types = projection->types();
    if (std::find(types.begin(), types.end(), event.type) == types.end()) continue;
    require(projection->apply(*txn, 1, *back).ok(), "a fold takes any payload");
  }
  require(txn->commit().ok(), "it is committed");
}

}  // namespace clawmark::fuzz
