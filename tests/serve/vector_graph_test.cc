// The vector index once it is large: graph, snapshot, and what happens to both.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <set>

#include "base/files.h"
#include "serve/vector_index.h"
#include "world.h"

namespace clawmark {
namespace {

constexpr int kDims = 64;
const ModelId kModel{"m", kDims};

std::vector<float> random_unit(std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> v(kDims);
  float length = 0;
  for (float& x : v) {
    x = normal(random) + 0.3F;
    length += x * x;
  }
  for (float& x : v) x /= std::sqrt(length);
  return v;
}

void add(VectorIndex& index, std::int64_t message, const std::vector<float>& v,
         const std::string& audience = "a") {
  float peak = 0;
  for (const float x : v) peak = std::max(peak, std::fabs(x));
  std::vector<std::int8_t> codes;
  for (const float x : v) codes.push_back(static_cast<std::int8_t>(std::lrintf(x / peak * 127.F)));
  const VectorEntry entry{{message}, "main", audience, peak / 127.F, codes};
  must(index.add(std::span(&entry, 1)));
}

std::vector<std::int64_t> found(const VectorIndex& index, const std::vector<float>& query,
                                std::size_t limit = 10, const std::string& audience = "a") {
  const std::vector<std::string> audiences = {audience};
  std::vector<std::int64_t> out;
  for (const auto& hit : index.search({query, "main", audiences, limit}))
    out.push_back(hit.message.value);
  return out;
}

// Small numbers stand for large ones.
const ScanOptions kSmallGraph{.full_scan_bytes = 64 * 100, .rescored = 100, .graph_rows = 200};

void fill(VectorIndex& index, int from, int to, std::mt19937& random) {
  for (int i = from; i <= to; ++i) add(index, i, random_unit(random));
}

double overlap(const VectorIndex& a, const VectorIndex& b, std::mt19937& random) {
  double common = 0;
  for (int q = 0; q < 50; ++q) {
    const auto query = random_unit(random);
    const auto x = found(a, query), y = found(b, query);
    const std::set<std::int64_t> in_x(x.begin(), x.end());
    for (const auto message : y) common += in_x.contains(message) ? 1 : 0;
  }
  return common / 500;
}

TEST(VectorGraph, finds_what_the_full_scan_finds_and_the_rows_that_wait) {
  const auto graph = make_vector_index(kModel, kSmallGraph);
  const auto exact = make_vector_index(kModel, {.full_scan_bytes = 1u << 30});
  std::mt19937 random(1), again(1), queries(9);
  fill(*graph, 1, 3000, random);
  fill(*exact, 1, 3000, again);
  EXPECT_EQ(graph->sizes().linked, 0U);
  while (graph->improve(500)) {
  }
  EXPECT_EQ(graph->sizes().linked, 3000U);
  EXPECT_GE(overlap(*graph, *exact, queries), 0.95);
  const auto fresh = random_unit(queries);
  add(*graph, 9000, fresh);  // not linked yet
  EXPECT_EQ(found(*graph, fresh, 1), (std::vector<std::int64_t>{9000}));
}

TEST(VectorGraph, removed_rows_are_never_found_and_leave_for_good_when_there_are_many) {
  const auto index = make_vector_index(kModel, kSmallGraph);
  std::mt19937 random(2);
  std::vector<std::vector<float>> vectors;
  for (int i = 1; i <= 2000; ++i) {
    vectors.push_back(random_unit(random));
    add(*index, i, vectors.back());
  }
  while (index->improve(500)) {
  }
  for (int i = 1; i <= 300; ++i) {
    const Seq gone{i};
    index->remove(std::span(&gone, 1));
    for (const auto message : found(*index, vectors[static_cast<std::size_t>(i) - 1], 3))
      EXPECT_GT(message, i);
  }
  EXPECT_EQ(index->size(), 1700U);
  EXPECT_EQ(index->sizes().linked, 2000U);
  std::vector<Seq> more;
  for (int i = 301; i <= 600; ++i) more.push_back({i});
  index->remove(more);
  EXPECT_EQ(index->sizes().rows, 1400U);
  EXPECT_EQ(index->sizes().linked, 0U);  // made again, in the background
  EXPECT_EQ(found(*index, vectors[1000], 1), (std::vector<std::int64_t>{1001}));
  add(*index, 1, vectors[0]);  // said again
  EXPECT_EQ(found(*index, vectors[0], 1), (std::vector<std::int64_t>{1}));
}

TEST(VectorGraph, C061_a_small_audience_keeps_its_hits_beside_a_graph) {
  const auto index = make_vector_index(kModel, kSmallGraph);
  std::mt19937 random(3);
  const auto query = random_unit(random);
  for (int i = 1; i <= 1500; ++i) {
    auto near = query;
    near[static_cast<std::size_t>(i) % kDims] += 0.01F;
    add(*index, i, near);
  }
  for (int i = 2001; i <= 2005; ++i) add(*index, i, random_unit(random), "b");
  while (index->improve(500)) {
  }
  auto hits = found(*index, query, 5, "b");
  std::sort(hits.begin(), hits.end());
  EXPECT_EQ(hits, (std::vector<std::int64_t>{2001, 2002, 2003, 2004, 2005}));
}

TEST(VectorGraph, C057_it_grows_past_its_first_room_and_catches_up_with_the_store) {
  const TempDir dir;
  const auto index = make_vector_index(kModel, kSmallGraph);
  std::mt19937 random(4), again(4);
  fill(*index, 1, 1000, random);
  while (index->improve(5000)) {
  }
  must(index->save(dir.file("v"), {.loaded_to = 1000}));
  auto loaded = must(load_vector_index(dir.file("v"), kModel, kSmallGraph));
  EXPECT_EQ(loaded.stamp.loaded_to, 1000);
  fill(*loaded.index, 1001, 1500, random);  // beyond the room of what was saved
  while (loaded.index->improve(5000)) {
  }
  EXPECT_EQ(loaded.index->sizes().linked, 1500U);
  const auto exact = make_vector_index(kModel, {.full_scan_bytes = 1u << 30});
  fill(*exact, 1, 1500, again);
  std::mt19937 queries(8);
  EXPECT_GE(overlap(*loaded.index, *exact, queries), 0.95);
}

TEST(VectorSnapshot, gives_back_the_same_answers) {
  const TempDir dir;
  const auto index = make_vector_index(kModel, kSmallGraph);
  std::mt19937 random(5), queries(6);
  fill(*index, 1, 900, random);
  while (index->improve(700)) {
  }
  const Seq gone{17};
  index->remove(std::span(&gone, 1));
  must(index->save(dir.file("v"), {}));
  EXPECT_EQ(index->unsaved(), 0U);
  const auto loaded = must(load_vector_index(dir.file("v"), kModel, kSmallGraph));
  EXPECT_EQ(loaded.index->messages(), index->messages());
  for (int q = 0; q < 30; ++q) {
    const auto query = random_unit(queries);
    EXPECT_EQ(found(*loaded.index, query), found(*index, query));
  }
}

TEST(VectorSnapshot, C059_a_damaged_file_is_refused_before_anything_is_read_from_it) {
  const TempDir dir;
  const std::string path = dir.file("v");
  const auto index = make_vector_index(kModel, kSmallGraph);
  std::mt19937 random(7);
  fill(*index, 1, 600, random);
  while (index->improve(700)) {
  }
  must(index->save(path, {}));
  const std::string whole = must(read_file(path));
  const auto reason_of = [&](const std::string& bytes, const ModelId& model = kModel) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const auto loaded = load_vector_index(path, model, kSmallGraph);
    return loaded.ok() ? std::string("loaded") : loaded.error().reason;
  };
  EXPECT_EQ(reason_of(whole), "loaded");
  EXPECT_EQ(reason_of(""), "snapshot_damaged");
  EXPECT_EQ(reason_of(whole.substr(0, whole.size() / 2)), "snapshot_damaged");
  EXPECT_EQ(reason_of(whole + "x"), "snapshot_damaged");
  for (std::size_t at = 16; at < whole.size(); at += whole.size() / 97) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x9F);
    EXPECT_EQ(reason_of(flipped), "snapshot_damaged") << at;
  }
  std::string newer = whole;
  newer[8] = 2;
  EXPECT_EQ(reason_of(newer), "snapshot_format");
  EXPECT_EQ(reason_of(whole, {"m", 128}), "snapshot_model");
  EXPECT_EQ(reason_of(whole, {"another", kDims}), "snapshot_model");
}

TEST(IndexKeeper, C057_what_a_snapshot_lacks_is_added_from_the_store) {
  World world;
  world.say({.text = "the heron nests by the old mill"});
  world.embed_all();
  const std::string path = world.store.path() + ".vectors";
  // As if the daemon had been killed here.
  const auto short_one = make_vector_index(world.embedder.model());
  must(short_one->save(path, {.generation = 1, .model_row = 1}));
  world.say({.text = "the dentist moved to Elm Street", .session_id = "s2"});
  world.embed_all();
  IndexKeeper keeper(world.serving->readers, world.clock, [&] { return world.embedder.model(); });
  must(keeper.refresh());
  EXPECT_EQ(keeper.index()->size(), 2U);
}

TEST(IndexKeeper, C059_a_damaged_snapshot_costs_nothing_but_time) {
  World world;
  world.say({.text = "the heron nests by the old mill"});
  world.embed_all();
  std::ofstream(world.store.path() + ".vectors") << "rubbish";
  IndexKeeper keeper(world.serving->readers, world.clock, [&] { return world.embedder.model(); });
  must(keeper.refresh());
  EXPECT_EQ(keeper.index()->size(), 1U);
  EXPECT_EQ(keeper.state().failure, "");
}

}  // namespace
}  // namespace clawmark
