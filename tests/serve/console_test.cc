// What people look through (/v1/admin/conversations, summaries, world, fact, changes, spend):
// complete for the operator, and behind the same walls as everything else when it is looked at
// through somebody's eyes.

#include <gmock/gmock.h>

#include "log/graph_events.h"
#include "world.h"

namespace clawmark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kBo[] = "agent:main:telegram:direct:202";
constexpr char kGroup[] = "agent:main:telegram:group:-7";

struct Looked : World {
  Looked() {
    ada = say({.text = "I live in Leipzig"});
    bo = say({.text = "I like jazz",
              .session_key = kBo,
              .session_id = "s2",
              .sender = "telegram:202",
              .speaker = "Bo"});
    ours = say({.text = "We use Mollie", .session_key = kGroup, .session_id = "g"});
    fold();
  }
  json::object admin(const std::string& command, json::object params = {}, int status = 200) {
    return post("/v1/admin/" + command, {{"params", std::move(params)}}, status);
  }
  void graph(json::object payload, const std::string& holder, Seq message) {
    for (const char* kind : {"nodes", "edges"}) {
      auto* list = payload.if_contains(kind);
      if (list == nullptr) continue;
      for (auto& item : list->as_array()) {
        auto& body = item.as_object();
        body["holder"] = holder;
        body["verified"] = true;
        body["confidence"] = 0.9;
        body["evidence"] = json::array{json::object{{"message", message.value}, {"quote", "said"}}};
      }
    }
    payload["messages"] = json::array{message.value};
    payload["session_id"] = "s1";
    payload["holder"] = holder;
    payload["model"] = "m";
    NewEvent event;
    event.type = event_type::kGraphCompleted;
    event.scope.agent = "main";
    event.dedupe_key = "graph:" + std::to_string(++items);
    event.occurred = clock.now();
    event.payload = std::move(payload);
    append(std::move(event));
    fold();
  }
  Seq ada, bo, ours;
  int items = 0;
};

std::vector<std::string> all_of(const json::object& answer, std::string_view list,
                                std::string_view key) {
  std::vector<std::string> out;
  const auto* rows = find_array(answer, list);
  if (rows == nullptr) return {"(no " + std::string(list) + ")"};
  for (const auto& row : *rows) out.push_back(get_string(row.get_object(), key));
  return out;
}

TEST(Console, conversations_are_listed_newest_first_with_who_spoke) {
  Looked w;
  const auto found = w.admin("conversations");
  EXPECT_THAT(all_of(found, "conversations", "session_id"), ElementsAre("g", "s2", "s1"));
  EXPECT_THAT(all_of(found, "conversations", "lane"), ElementsAre("group", "direct", "direct"));
  EXPECT_TRUE(holds(found, R"("speakers":["Bo"])")) << to_text(found);
  EXPECT_THAT(all_of(w.admin("conversations", {{"limit", 1}}), "conversations", "session_id"),
              ElementsAre("g"));
}

TEST(Console, nobody_s_eyes_see_a_conversation_that_was_not_theirs) {
  Looked w;
  EXPECT_THAT(
      all_of(w.admin("conversations", {{"as", "telegram:202"}}), "conversations", "session_id"),
      ElementsAre("s2"));
  EXPECT_THAT(
      all_of(w.admin("conversations", {{"as", "telegram:404"}}), "conversations", "session_id"),
      IsEmpty());
}

TEST(Console, a_fact_has_every_value_with_its_evidence_and_the_audit) {
  Looked w;
  w.conclude("person:telegram:101", "user.city", "Leipzig", w.ada);
  w.clock.advance(kDayMs);
  w.state("person:telegram:101", "user.city", "Berlin");
  const auto found = w.admin("fact", {{"key", "user.city"}});
  EXPECT_THAT(all_of(found, "values", "value"), ElementsAre("Leipzig", "Berlin"));
  const auto& first = find_array(found, "values")->at(0).get_object();
  EXPECT_EQ(get_int(first, "message"), w.ada.value);
  EXPECT_NE(get_string(first, "valid_to"), "");
  EXPECT_FALSE(find_array(found, "values")->at(1).get_object().contains("valid_to"));
  EXPECT_THAT(all_of(found, "changes", "type"), ElementsAre("update", "create"));
  EXPECT_THAT(all_of(found, "observations", "value"), ElementsAre("Berlin", "Leipzig"));
  const auto hidden = w.admin("fact", {{"key", "user.city"}, {"as", "telegram:202"}});
  EXPECT_FALSE(holds(hidden, "Leipzig") || holds(hidden, "Berlin")) << to_text(hidden);
  EXPECT_TRUE(holds(w.admin("fact", {}, 400), "key is missing"));
}

TEST(Console, changes_are_paged_by_their_number_and_narrowed) {
  Looked w;
  for (int i = 0; i < 5; ++i) {
    w.state("person:owner", "pref.k" + std::to_string(i), "v");
  }
  w.state("person:telegram:202", "pref.secret", "s");
  const auto first = w.admin("changes", {{"limit", 2}});
  EXPECT_THAT(all_of(first, "changes", "key"), ElementsAre("pref.secret", "pref.k4"));
  const auto last = get_int(find_array(first, "changes")->at(1).get_object(), "id");
  EXPECT_THAT(all_of(w.admin("changes", {{"limit", 2}, {"before", last}}), "changes", "key"),
              ElementsAre("pref.k3", "pref.k2"));
  EXPECT_THAT(all_of(w.admin("changes", {{"key", "pref.k1"}}), "changes", "type"),
              ElementsAre("create"));
  EXPECT_THAT(all_of(w.admin("changes", {{"type", "update"}}), "changes", "key"), IsEmpty());
  EXPECT_FALSE(holds(w.admin("changes", {{"as", "telegram:101"}}), "pref.secret"));
}

TEST(Console, the_world_has_its_relations_and_only_those_in_sight) {
  Looked w;
  const json::array nodes{json::object{{"type", "decision"}, {"name", "use Mollie"}},
                          json::object{{"type", "component"}, {"name", "Mollie"}}};
  const json::array edges{json::object{{"type", "AFFECTS"},
                                       {"from_type", "decision"},
                                       {"from", "use Mollie"},
                                       {"to_type", "component"},
                                       {"to", "Mollie"}}};
  w.graph({{"nodes", nodes}, {"edges", edges}}, "group:" + std::string(kGroup), w.ours);
  w.graph({{"nodes", json::array{json::object{{"type", "concept"}, {"name", "jazz"}}}}},
          "person:telegram:202", w.bo);
  const auto all = w.admin("world");
  EXPECT_EQ(find_array(all, "nodes")->size(), 3U);
  EXPECT_THAT(all_of(all, "edges", "type"), ElementsAre("AFFECTS"));
  EXPECT_THAT(all_of(all, "edges", "to"), ElementsAre("mollie"));
  const auto components = w.admin("world", {{"nodeType", "component"}});
  EXPECT_THAT(all_of(components, "nodes", "name"), ElementsAre("Mollie"));
  EXPECT_THAT(all_of(components, "edges", "type"), IsEmpty()) << "one end is not listed";
  EXPECT_THAT(all_of(w.admin("world", {{"as", "telegram:202"}}), "nodes", "name"),
              ElementsAre("jazz"));
  EXPECT_TRUE(get_bool(w.admin("world", {{"limit", 1}}), "cut"));
}

TEST(Console, summaries_say_what_they_cover_and_whose_they_are) {
  Looked w;
  w.graph({{"prose", "Ada spoke of Leipzig."}}, "person:telegram:101", w.ada);
  w.graph({{"prose", "Bo likes jazz."}}, "person:telegram:202", w.bo);
  const auto all = w.admin("summaries");
  EXPECT_EQ(get_int(all, "total"), 2);
  EXPECT_THAT(all_of(all, "summaries", "text"),
              ElementsAre("Bo likes jazz.", "Ada spoke of Leipzig."));
  EXPECT_TRUE(get_bool(find_array(all, "summaries")->at(0).get_object(), "top"));
  EXPECT_THAT(all_of(w.admin("summaries", {{"as", "telegram:101"}}), "summaries", "text"),
              ElementsAre("Ada spoke of Leipzig."));
  const std::string id = all_of(all, "summaries", "id")[1];
  EXPECT_THAT(text_of(w.admin("expand", {{"summaryId", id}}), "text"),
              HasSubstr("I live in Leipzig"));
}

TEST(Console, spend_is_told_by_day_worker_and_model) {
  Looked w;
  EXPECT_THAT(all_of(w.admin("spend"), "spend", "day"), IsEmpty());
  const std::string today = format_date(w.clock.now(), "UTC");
  must(
      w.store.db().exec("INSERT INTO spend(day, worker, model, calls, input_tokens, "
                        "output_tokens, micro_usd) VALUES ('" +
                        today +
                        "', 'extract', 'm', 3, 1000, 50, 1250), ('2020-01-01', 'graph', "
                        "'m', 1, 1, 1, 1)"));
  const auto found = w.admin("spend", {{"days", 2}});
  EXPECT_THAT(all_of(found, "spend", "day"), ElementsAre(today));
  EXPECT_DOUBLE_EQ(get_double(find_array(found, "spend")->at(0).get_object(), "usd"), 0.00125);
}

TEST(Console, an_empty_store_has_nothing_and_no_error) {
  World w;
  for (const char* command : {"conversations", "summaries", "world", "changes", "spend"}) {
    w.post(std::string("/v1/admin/") + command, {{"params", json::object{}}});
  }
}

}  // namespace
}  // namespace clawmark
