#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "serve/vector_index.h"
#include "serve/vector_kernels.h"
#include "world.h"

namespace clawmark {
namespace {

struct Made {
  std::vector<std::vector<std::int8_t>> codes;
  std::vector<VectorEntry> entries;
};

std::vector<float> random_unit(std::mt19937& random, int dims) {
  std::normal_distribution<float> normal;
  std::vector<float> v(static_cast<std::size_t>(dims));
  float length = 0;
  for (float& x : v) {
    x = normal(random) + 0.3F;  // a common mean, as real models have
    length += x * x;
  }
  for (float& x : v) x /= std::sqrt(length);
  return v;
}

void add(VectorIndex& index, std::int64_t message, std::vector<float> v,
         const std::string& audience) {
  float length = 0, peak = 0;
  for (const float x : v) length += x * x;
  for (float& x : v) x /= std::sqrt(length);
  for (const float x : v) peak = std::max(peak, std::fabs(x));
  std::vector<std::int8_t> codes;
  for (const float x : v) codes.push_back(static_cast<std::int8_t>(std::lrintf(x / peak * 127.F)));
  const VectorEntry entry{{message}, "main", audience, peak / 127.F, codes};
  must(index.add(std::span(&entry, 1)));
}

std::vector<std::int64_t> found(const VectorIndex& index, const std::vector<float>& query,
                                std::vector<std::string> audiences, std::size_t limit) {
  std::vector<std::int64_t> out;
  for (const auto& hit : index.search({query, "main", audiences, limit}))
    out.push_back(hit.message.value);
  return out;
}

TEST(VectorIndex, C061_a_small_audience_loses_nothing_to_a_large_one) {
  for (const std::size_t full :
       {std::size_t{64} << 20, std::size_t{0}}) {  // in full, and by sign bits
    std::mt19937 random(7);
    const auto query = random_unit(random, 100);
    const auto index = make_vector_index({"m", 100}, {.full_scan_bytes = full});
    for (int i = 0; i < 6000; ++i) {
      auto near = query;
      near[static_cast<std::size_t>(i) % 100] += 0.01F;
      add(*index, i + 1, near, "person:a");
    }
    for (int i = 0; i < 5; ++i) {
      auto v = query;
      v[3] += 0.2F * static_cast<float>(i + 1);
      add(*index, 10'001 + i, v, "person:b");
    }
    EXPECT_EQ(found(*index, query, {"person:b"}, 5),
              (std::vector<std::int64_t>{10'001, 10'002, 10'003, 10'004, 10'005}));
    EXPECT_TRUE(found(*index, query, {"person:c"}, 5).empty());
    EXPECT_TRUE(index->search({query, "other", std::vector<std::string>{"person:b"}, 5}).empty());
  }
}

TEST(VectorIndex, C136_removed_messages_take_no_places) {
  std::mt19937 random(7);
  const auto query = random_unit(random, 64);
  const auto index = make_vector_index({"m", 64});
  for (int i = 0; i < 8; ++i) {
    auto v = query;
    v[0] += 0.1F * static_cast<float>(i);
    add(*index, i + 1, v, "p");
  }
  std::vector<Seq> gone;
  for (int i = 1; i <= 5; ++i) gone.push_back({i});
  index->remove(gone);
  EXPECT_EQ(found(*index, query, {"p"}, 5), (std::vector<std::int64_t>{6, 7, 8}));
  EXPECT_EQ(index->size(), 3U);
  index->remove(gone);
  EXPECT_EQ(index->messages().size(), 3U);
}

TEST(VectorIndex, sign_bits_with_rescoring_find_what_the_full_scan_finds) {
  std::mt19937 random(11);
  const auto exact = make_vector_index({"m", 128}, {.full_scan_bytes = 1u << 30});
  const auto quick = make_vector_index({"m", 128}, {.full_scan_bytes = 0, .rescored = 600});
  // Texts come in topics: 400 of them, 20 texts each, and questions near one.
  std::vector<std::vector<float>> topics;
  const auto near = [&](const std::vector<float>& topic) {
    auto v = random_unit(random, 128);
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = topic[k] + 0.5F * v[k];
    return v;
  };
  for (int i = 0; i < 400; ++i) topics.push_back(random_unit(random, 128));
  for (int i = 0; i < 8000; ++i) {
    const auto v = near(topics[static_cast<std::size_t>(i) % 400]);
    add(*exact, i, v, "p");
    add(*quick, i, v, "p");
  }
  std::size_t same = 0;
  for (int q = 0; q < 20; ++q) {
    const auto query = near(topics[static_cast<std::size_t>(q)]);
    const auto want = found(*exact, query, {"p"}, 10);
    const auto got = found(*quick, query, {"p"}, 10);
    for (const auto m : want) {
      same += static_cast<std::size_t>(std::count(got.begin(), got.end(), m));
    }
  }
  EXPECT_GE(same, 190U);
}

TEST(VectorIndex, a_message_with_very_many_chunks_is_one_hit_and_hides_nobody) {
  std::mt19937 random(3);
  const auto query = random_unit(random, 64);
  const auto index = make_vector_index({"m", 64});
  for (int i = 0; i < 3000; ++i) add(*index, 1, query, "p");
  for (int i = 2; i <= 6; ++i) add(*index, i, random_unit(random, 64), "p");
  EXPECT_EQ(found(*index, query, {"p"}, 5).size(), 5U);
}

TEST(VectorIndex, unlike_lengths_are_never_compared) {
  std::mt19937 random(3);
  const auto index = make_vector_index({"m", 64});
  add(*index, 1, random_unit(random, 64), "p");
  EXPECT_TRUE(found(*index, random_unit(random, 100), {"p"}, 5).empty());
  const std::vector<std::int8_t> codes(100);
  const VectorEntry entry{{2}, "main", "p", 1, codes};
  EXPECT_EQ(index->add(std::span(&entry, 1)).error().reason, "dims");
  EXPECT_EQ(index->size(), 1U);
}

TEST(VectorIndex, C057_it_grows_past_any_size_that_it_began_with) {
  std::mt19937 random(5);
  for (const std::size_t full : {std::size_t{64} << 20, std::size_t{0}}) {
    const auto index = make_vector_index({"m", 64}, {.full_scan_bytes = full});
    for (int i = 1; i <= 1000; ++i) add(*index, i, random_unit(random, 64), "agent");
    const auto late = random_unit(random, 64);
    add(*index, 1001, late, "agent");
    EXPECT_EQ(found(*index, late, {"agent"}, 1), std::vector<std::int64_t>{1001});
    for (int i = 1002; i <= 1500; ++i) add(*index, i, random_unit(random, 64), "agent");
    EXPECT_EQ(index->size(), 1500u);
    EXPECT_EQ(index->messages().size(), 1500u);
  }
}

TEST(VectorKernels, both_kinds_agree_to_the_bit) {
  std::mt19937 random(5);
  for (const std::size_t n : {64U, 128U, 512U}) {
    std::vector<std::int8_t> a(n), b(n);
    std::vector<std::uint64_t> x(n / 64), y(n / 64);
    for (auto& c : a) c = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
    for (auto& c : b) c = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
    for (auto& w : x) w = (std::uint64_t{random()} << 32) | random();
    for (auto& w : y) w = (std::uint64_t{random()} << 32) | random();
    EXPECT_EQ(best_kernels().dot(a.data(), b.data(), n),
              plain_kernels().dot(a.data(), b.data(), n));
    EXPECT_EQ(best_kernels().hamming(x.data(), y.data(), n / 64),
              plain_kernels().hamming(x.data(), y.data(), n / 64));
  }
}

TEST(IndexKeeper, follows_the_store_in_both_directions) {
  World world;
  world.say({.text = "the heron nests by the old mill"});
  world.embed_all();
  EXPECT_EQ(world.serving->index->index()->size(), 1U);
  world.say({.text = "the dentist moved to Elm Street", .session_id = "s2"});
  world.embed_all();
  EXPECT_EQ(world.serving->index->index()->size(), 2U);
  NewEvent gone;
  gone.type = event_type::kSessionDeleted;
  gone.scope = {"main", "agent:main:telegram:direct:101", Lane::kDirect, ""};
  gone.dedupe_key = "deleted:main:s2";
  gone.payload = {{"session_id", "s2"}, {"evidence", "tombstone"}};
  world.append(gone);
  must(world.serving->index->refresh());
  EXPECT_EQ(world.serving->index->index()->messages(), (std::vector<Seq>{{1}}));
}

TEST(IndexKeeper, C057_a_new_start_holds_every_stored_vector) {
  World world;
  for (int i = 0; i < 40; ++i) world.say({.text = "note number " + std::to_string(i)});
  world.embed_all();
  const auto kept = world.serving->index->index()->size();
  IndexKeeper fresh(world.serving->readers, world.clock, [&] { return world.embedder.model(); });
  must(fresh.refresh());
  ASSERT_NE(fresh.index(), nullptr);
  EXPECT_EQ(fresh.index()->size(), kept);
}

TEST(IndexKeeper, another_model_starts_another_index) {
  World world;
  world.say({.text = "the heron nests by the old mill"});
  world.embed_all();
  world.embedder.name = "builtin-other";
  must(world.serving->index->refresh());
  EXPECT_EQ(world.serving->index->index(), nullptr);
  world.embed_all();
  EXPECT_EQ(world.serving->index->index()->model().name, "builtin-other");
  EXPECT_EQ(world.serving->index->index()->size(), 1U);
}

TEST(IndexKeeper, C059_a_damaged_row_is_left_out_and_the_rest_is_searched) {
  World world;
  world.say({.text = "the heron nests by the old mill"});
  world.say({.text = "the dentist moved to Elm Street", .session_id = "s2"});
  world.embed_all();
  must(world.store.db().run(
      "UPDATE vectors SET vector = x'0102' WHERE hash = (SELECT hash FROM chunks"
      " WHERE message = 1)"));
  world.embedder.name = "builtin-other";
  must(world.serving->index->refresh());
  world.embedder.name = "builtin-words";
  must(world.serving->index->refresh());
  EXPECT_EQ(world.serving->index->index()->messages(), (std::vector<Seq>{{2}}));
}

}  // namespace
}  // namespace clawmark
