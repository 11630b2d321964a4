#pragma once
// A store with the three projections and short ways to say things into its log. Texts stand in for
// a source: by message, so that one can be taken away.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "log/body_store.h"
#include "log/store.h"
#include "projections/facts.h"
#include "projections/messages.h"
#include "projections/projection.h"
#include "projections/rebuild.h"
#include "projections/search.h"

namespace clawmark::testing_world {

constexpr TimeMs kDay0{1'767'225'600'000};  // 2026-01-01T00:00:00Z
inline TimeMs day(double n) {
  return {kDay0.value + static_cast<std::int64_t>(n * static_cast<double>(kDayMs))};
}

struct Said {
  std::string text = "hello";
  TimeMs at = day(0);
  std::string session = "s1";
  std::string key = "agent:main:telegram:direct:101";
  std::string sender = "telegram:101";
  std::string role = "user";
  std::string entry_class = "chat";
  std::string noise = {};
  std::optional<Seq> parent = {};
  std::string agent = "main";
  std::string entry_id = {};  // empty: made from a counter
  std::string speaker = {};
  bool owner = false;
  std::optional<Lane> lane = {};  // else as the key says
};

struct Extracted {
  std::string key = {}, value = {};
  double confidence = 0.9;
  std::vector<Seq> evidence = {};
  std::string holder = "person:telegram:101";
  std::string subject = "telegram:101";
  bool verified = true;
  std::int64_t due_ms = 0;
  std::string replaces = {};
};

class World : public BodyResolver {
 public:
  explicit World(const FoldOptions& options = {});
  ~World() override;

  Seq append(NewEvent event);
  Seq say(const Said& said);
  Seq sight(Seq message, const std::string& session, const std::string& key = "",
            const std::string& alias = "");
  Seq extract(const std::vector<Extracted>& facts, TimeMs at = day(0));
  Seq extract(const Extracted& fact, TimeMs at = day(0)) {
    return extract(std::vector<Extracted>{fact}, at);
  }
  Seq state(const std::string& key, const std::string& value, TimeMs at,
            const std::string& by = "cli");
  Seq forget(const std::string& key, TimeMs at);
  Seq expire(const std::string& key, TimeMs last_observed, TimeMs at);
  Seq branch(const std::string& session, const std::string& carrier, std::int64_t revision,
             const std::vector<Seq>& inactive);
  Seq remove_session(const std::string& session);

  // Folds all projections to the head.
  void fold(std::size_t batch = 100);
  void redact(Seq seq);
  std::optional<Fact> fact(const std::string& key, TimeMs as_of = day(1));
  // "event_type old→new source", in order, of one key (or of all).
  std::vector<std::string> audit(const std::string& key = "");
  // First column of all rows.
  std::vector<std::string> rows(const std::string& sql);
  std::string one(const std::string& sql);
  LexicalAnswer search(const std::string& text, std::size_t limit = 50, bool advanced = false);
  std::vector<std::string> found(const std::string& text, std::size_t limit = 50);
  std::vector<Projection*> projections();
  std::string digest(Projection& projection);

  std::vector<std::optional<std::string>> resolve(std::span<const BodyRequest> wanted) override;

  ManualClock clock;
  std::string dir;
  std::optional<Store> store;
  BodyStore bodies{Retention::kReference, this};
  std::unique_ptr<Projection> facts, messages, search_index;
  std::map<std::int64_t, std::string> texts;  // by message
  std::string agent = "main";
  std::string holder = "person:telegram:101";
  std::string subject = "telegram:101";
  std::vector<std::string> audiences = {"person:telegram:101"};

  // Appended events are committed before anyone looks.
  Database& db();

 private:
  std::optional<Transaction> pending_;
  std::int64_t counter_ = 0;
};

}  // namespace clawmark::testing_world
