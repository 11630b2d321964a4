// Method: seeded random event streams (messages, forks, branches, deletions, extractions, commands,
// redactions) over few sessions and keys, so that everything meets everything. For each: folding
// one by one, in odd batches and in one go, and folding again, give the same digests; nothing that
// stands only in deleted sessions is found or known; a failure prints its seed.

#include <gmock/gmock.h>

#include <random>

#include "world.h"

namespace clawmark::testing_world {
namespace {

class Teller {
 public:
  Teller(World& w, unsigned seed) : w_(w), random_(seed) {}

  void step() {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        say();
        break;
      case 4:
      case 5:
      case 6:
        extract();
        break;
      case 7:
        command();
        break;
      case 8:
        branch();
        break;
      case 9:
        if (!said_.empty()) w_.sight(some_message(), session(), key());
        break;
      case 10:
        if (pick(4) == 0) w_.remove_session(session());
        break;
      default:
        if (pick(6) == 0 && redactable_.size() > 1) {
          w_.redact(redactable_[pick(redactable_.size())]);
        } else if (!said_.empty()) {
          w_.expire(fact_key(), time(), day(900));
        }
        break;
    }
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }
  TimeMs time() { return day(static_cast<double>(pick(8000)) / 10.0); }
  std::string session() { return "s" + std::to_string(pick(4)); }
  std::string key() {
    const char* keys[] = {"agent:main:main", "agent:main:telegram:direct:101",
                          "agent:main:telegram:group:-5", "agent:main:cron:x", ""};
    return keys[pick(5)];
  }
  std::string fact_key() { return "user.k" + std::to_string(pick(3)); }
  Seq some_message() { return said_[pick(said_.size())]; }

  void say() {
    Said said;
    said.text = "word" + std::to_string(pick(5)) + " unique" + std::to_string(w_.texts.size());
    said.at = time();
    said.session = session();
    said.key = key();
    said.role = pick(3) == 0 ? "assistant" : "user";
    said.sender = pick(3) == 0 ? "" : "telegram:101";
    said.noise = pick(8) == 0 ? "heartbeat" : "";
    if (!said_.empty() && pick(3) != 0) said.parent = some_message();
    said_.push_back(w_.say(said));
    redactable_.push_back(said_.back());
  }

  void extract() {
    if (said_.empty()) return;
    std::vector<Extracted> facts;
    for (std::size_t i = 0; i <= pick(2); ++i) {
      Extracted fact{fact_key(),
                     "value" + std::to_string(pick(3)),
                     0.75 + static_cast<double>(pick(25)) / 100,
                     {some_message()}};
      if (pick(2) == 0) fact.evidence.push_back(some_message());
      fact.verified = pick(8) != 0;
      facts.push_back(fact);
    }
    redactable_.push_back(w_.extract(facts, time()));
  }

  void command() {
    if (pick(3) == 0) {
      w_.forget(fact_key(), time());
    } else {
      redactable_.push_back(w_.state(fact_key(), "value" + std::to_string(pick(3)), time()));
    }
  }

  void branch() {
    std::vector<Seq> off;
    for (const Seq seq : said_) {
      if (pick(4) == 0) off.push_back(seq);
    }
    w_.branch(session(), pick(2) == 0 ? "agent-db" : "transcripts",
              static_cast<std::int64_t>(pick(20)), off);
  }

  World& w_;
  std::mt19937 random_;
  std::vector<Seq> said_, redactable_;
};

// After the same events, folded in batches of `batch` while they come in.
std::vector<std::string> digests_of(World& w, unsigned seed, std::size_t batch, int every) {
  Teller teller(w, seed);
  for (int i = 0; i < 120; ++i) {
    teller.step();
    if (every > 0 && i % every == 0) w.fold(batch);
  }
  w.fold(batch);
  std::vector<std::string> out;
  for (Projection* projection : w.projections()) out.push_back(w.digest(*projection));
  return out;
}

TEST(Streams, batch_borders_and_rebuilds_do_not_matter) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World one, odd, all;
    const auto by_one = digests_of(one, seed, 1, 1);
    const auto by_odd = digests_of(odd, seed, 7, 5);
    const auto at_once = digests_of(all, seed, 1000, 0);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(by_one[i], at_once[i]);
      ASSERT_EQ(by_odd[i], at_once[i]);
    }
    ASSERT_THAT(verify(one.db(), one.projections(), one.clock.now()).value().problems,
                ::testing::IsEmpty());
    for (Projection* projection : odd.projections()) {
      ASSERT_TRUE(rebuild(odd.db(), *projection, odd.clock.now(), {}).ok());
    }
    EXPECT_EQ(odd.digest(*odd.facts), by_odd[0]);
    EXPECT_EQ(odd.digest(*odd.messages), by_odd[1]);
  }
}

TEST(Streams, nothing_that_may_not_be_recalled_is_ever_found) {
  for (unsigned seed = 100; seed < 110; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World w;
    digests_of(w, seed, 10, 3);
    w.audiences = {"person:telegram:101", "person:owner", "group:agent:main:telegram:group:-5"};
    std::vector<std::string> open;
    for (const auto& seq : w.rows("SELECT seq FROM messages WHERE recallable = 1 AND audience IN "
                                  "('person:telegram:101', 'person:owner', "
                                  "'group:agent:main:telegram:group:-5')")) {
      open.push_back(w.texts[std::stoll(seq)]);
    }
    EXPECT_THAT(w.found("word0 word1 word2 word3 word4", 1000),
                ::testing::UnorderedElementsAreArray(open));
    // What stands in a deleted session only has left no text with the facts.
    EXPECT_EQ(
        w.one("SELECT count(*) FROM fact_observations WHERE state IN ('deleted', 'forgotten') "
              "AND (value <> '' OR coalesce(quote, '') <> '')"),
        "0");
    EXPECT_EQ(
        w.one("SELECT count(*) FROM facts f WHERE is_deleted = 0 AND source = 'extracted' AND "
              "NOT EXISTS(SELECT 1 FROM fact_observations o WHERE o.key = f.key AND o.state = "
              "'active' AND o.kind = 'extracted')"),
        "0");
  }
}

}  // namespace
}  // namespace clawmark::testing_world
