#include "world.h"

#include <stdlib.h>

#include <filesystem>

namespace clawmark::testing_world {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result.ok()) ADD_FAILURE() << describe(result.error());
  return std::move(result).value();
}

void must(const Status& status) {
  if (!status.ok()) ADD_FAILURE() << describe(status.error());
}

}  // namespace

World::World(const FoldOptions& options) {
  std::string pattern = (std::filesystem::temp_directory_path() / "clawmark-XXXXXX").string();
  dir = mkdtemp(pattern.data());
  store.emplace(must(Store::open({dir + "/clawmark.db", "test"}, clock)));
  facts = make_facts_projection(options);
  messages = make_messages_projection();
  search_index =
      make_search_projection(bodies, [](std::string_view raw) { return std::string(raw); });
  must(ensure_projections(db(), projections()));
}

Database& World::db() {
  if (pending_) {
    must(pending_->commit());
    pending_.reset();
  }
  return store->db();
}

World::~World() {
  pending_.reset();
  store.reset();
  std::filesystem::remove_all(dir);
}

std::vector<Projection*> World::projections() {
  return {facts.get(), messages.get(), search_index.get()};
}

Seq World::append(NewEvent event) {
  if (event.scope.agent.empty()) event.scope.agent = agent;
  if (event.dedupe_key.empty()) event.dedupe_key = "test:" + std::to_string(++counter_);
  clock.advance(1);
  if (!pending_) pending_.emplace(must(Transaction::begin(store->db())));
  return must(store->log().append(*pending_, event)).head;
}

Seq World::say(const Said& said) {
  NewEvent event;
  event.type = event_type::kMessageObserved;
  event.scope.agent = said.agent;
  event.scope.session_key = said.key;
  event.scope.lane = said.lane.value_or(parse_session_key(said.key).lane);
  if (said.role == "user") event.scope.sender = said.sender;
  event.occurred = said.at;
  event.payload = {
      {"entry_id", said.entry_id.empty() ? "e" + std::to_string(++counter_) : said.entry_id},
      {"session_id", said.session},
      {"session_key", said.key},
      {"role", said.role},
      {"class", said.entry_class},
      {"noise", said.noise},
      {"speaker", said.speaker},
      {"sender_is_owner", said.owner},
      {"bytes", said.text.size()},
      {"chars", said.text.size()},
      {"sha256", to_hex(sha256(said.text))},
      {"carrier", "agent-db"},
      {"position", 0}};
  if (said.parent) event.payload["parent"] = said.parent->value;
  const Seq seq = append(std::move(event));
  texts[seq.value] = said.text;
  return seq;
}

Seq World::sight(Seq message, const std::string& session, const std::string& key,
                 const std::string& alias) {
  NewEvent event;
  event.type = event_type::kMessageSighted;
  event.scope.session_key = key;
  event.scope.lane = parse_session_key(key).lane;
  event.payload = {{"message", message.value},
                   {"entry_id", alias},
                   {"session_id", session},
                   {"session_key", key},
                   {"carrier", "transcripts"}};
  if (!alias.empty()) event.payload["alias"] = true;
  return append(std::move(event));
}

Seq World::extract(const std::vector<Extracted>& list, TimeMs at) {
  NewEvent event;
  event.type = event_type::kExtractionCompleted;
  event.occurred = at;
  json::array items;
  for (const auto& fact : list) {
    json::array evidence;
    for (const Seq seq : fact.evidence) {
      evidence.push_back({{"message", seq.value}, {"quote", "quote of " + fact.value}});
    }
    items.push_back({{"key", fact.key},
                     {"value", fact.value},
                     {"confidence", fact.confidence},
                     {"subject", fact.subject},
                     {"holder", fact.holder},
                     {"evidence", evidence},
                     {"verified", fact.verified},
                     {"observed_ms", at.value},
                     {"due_ms", fact.due_ms},
                     {"replaces", fact.replaces}});
  }
  event.payload = {{"session_id", "s1"}, {"model", "test"}, {"facts", items}};
  return append(std::move(event));
}

Seq World::state(const std::string& key, const std::string& value, TimeMs at,
                 const std::string& by) {
  NewEvent event;
  event.type = event_type::kFactStated;
  event.occurred = at;
  event.payload = {
      {"key", key},       {"value", value},    {"holder", holder}, {"subject", subject},
      {"source", "user"}, {"confidence", 1.0}, {"by", by}};
  return append(std::move(event));
}

Seq World::forget(const std::string& key, TimeMs at) {
  NewEvent event;
  event.type = event_type::kFactForgotten;
  event.occurred = at;
  event.payload = {{"key", key}, {"holder", holder}, {"subject", subject}};
  return append(std::move(event));
}

Seq World::expire(const std::string& key, TimeMs last_observed, TimeMs at) {
  NewEvent event;
  event.type = event_type::kFactExpired;
  event.occurred = at;
  event.payload = {{"key", key},
                   {"holder", holder},
                   {"subject", subject},
                   {"last_observed_ms", last_observed.value}};
  return append(std::move(event));
}

Seq World::branch(const std::string& session, const std::string& carrier, std::int64_t revision,
                  const std::vector<Seq>& inactive) {
  NewEvent event;
  event.type = event_type::kSessionBranch;
  json::array list;
  for (const Seq seq : inactive) list.emplace_back(seq.value);
  event.payload = {
      {"session_id", session}, {"carrier", carrier}, {"revision", revision}, {"inactive", list}};
  return append(std::move(event));
}

Seq World::remove_session(const std::string& session) {
  NewEvent event;
  event.type = event_type::kSessionDeleted;
  event.payload = {{"session_id", session}, {"evidence", "tombstone"}};
  return append(std::move(event));
}

void World::redact(Seq seq) {
  auto txn = must(Transaction::begin(db()));
  must(store->log().redact(txn, seq, "test"));
  must(txn.commit());
}

void World::fold(std::size_t batch) {
  for (Projection* projection : projections()) {
    const int generation = must(live_generation(db(), projection->name()));
    while (must(fold_step(db(), *projection, generation, batch, clock.now())) > 0) {
    }
  }
}

std::optional<Fact> World::fact(const std::string& key, TimeMs as_of) {
  fold();
  return must(find_fact(db(), agent, holder, subject, key, as_of));
}

std::vector<std::string> World::audit(const std::string& key) {
  fold();
  return rows(
      "SELECT event_type || ' ' || coalesce(old_value, '-') || '→' || coalesce(new_value, '-') || "
      "' ' || source FROM memory_events WHERE memory_key = '" +
      key + "' OR '" + key + "' = '' ORDER BY id");
}

std::vector<std::string> World::rows(const std::string& sql) {
  auto statement = must(db().prepare(sql));
  std::vector<std::string> out;
  while (must(statement.step())) out.push_back(statement.string(0));
  return out;
}

std::string World::one(const std::string& sql) {
  const auto all = rows(sql);
  return all.empty() ? "" : all.front();
}

LexicalAnswer World::search(const std::string& text, std::size_t limit, bool advanced) {
  fold();
  LexicalQuery query;
  query.text = text;
  query.agent = agent;
  query.audiences = audiences;
  query.limit = limit;
  query.clock = &clock;
  query.advanced = advanced;
  return must(lexical_search(db(), query));
}

std::vector<std::string> World::found(const std::string& text, std::size_t limit) {
  const auto answer = search(text, limit);
  EXPECT_EQ(answer.degraded, "");
  std::vector<std::string> out;
  for (const auto& hit : answer.hits) out.push_back(texts[hit.message.value]);
  return out;
}

std::string World::digest(Projection& projection) {
  return to_hex(must(live_digest(db(), projection)).digest);
}

std::vector<std::optional<std::string>> World::resolve(std::span<const BodyRequest> wanted) {
  std::vector<std::optional<std::string>> out;
  for (const auto& request : wanted) {
    const auto found = texts.find(request.message.value);
    out.push_back(found == texts.end() ? std::nullopt : std::optional(found->second));
  }
  return out;
}

}  // namespace clawmark::testing_world
