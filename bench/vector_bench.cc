// Method. N unit vectors of 512 numbers are drawn with a seed: a common mean, clusters of 1,000,
// a spread of rank 32 within each, and noise; queries are drawn likewise. The same vectors, as the
// store keeps them (int8 and a scale), go into
//   * a float32 scan of all (AVX2 through the compiler),  the floor of an honest scan and the truth
//   * hnswlib as it is, with int8 vectors inside its elements and the same kernels,
//   * the product's index: scan of all, 1-bit scan with rescoring, graph; with and without a
//   filter,
//   * sqlite-vec (float32), when its extension is at hand.
// Recall@10 is against the float32 scan. Then a snapshot is written and read back.

#include <sqlite3.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <set>

#include "base/files.h"
#include "bench/figures.h"
#include "serve/vector_index.h"
#include "serve/vector_kernels.h"
#include "tests/support/store_builder.h"

#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

namespace clawmark::bench {
namespace {

constexpr std::size_t kDims = 512, kRank = 32, kCluster = 1000, kQueries = 200, kTop = 10;

using Ids = std::vector<std::int64_t>;

struct Data {
  std::size_t rows = 0;
  std::vector<float> floats;
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
  std::vector<std::vector<float>> queries;
  std::vector<Ids> truth;
};

class Source {
 public:
  explicit Source(std::size_t rows) : centres_(rows / kCluster + 1) {
    for (auto& centre : centres_) centre = draw(1);
    for (auto& axis : axes_) axis = draw(1);
    mean_ = draw(1);
  }
  std::vector<float> next() {
    std::vector<float> v = draw(0.35F);
    const auto& centre = centres_[random_() % centres_.size()];
    for (std::size_t i = 0; i < kDims; ++i) v[i] += 0.6F * mean_[i] + 0.7F * centre[i];
    for (const auto& axis : axes_) {
      const float x = 0.25F * normal_(random_);
      for (std::size_t i = 0; i < kDims; ++i) v[i] += x * axis[i];
    }
    float length = 0;
    for (const float x : v) length += x * x;
    for (float& x : v) x /= std::sqrt(length);
    return v;
  }

 private:
  std::vector<float> draw(float scale) {
    std::vector<float> v(kDims);
    for (float& x : v) x = scale * normal_(random_);
    return v;
  }
  std::mt19937 random_{7};
  std::normal_distribution<float> normal_;
  std::vector<std::vector<float>> centres_;
  std::vector<float> axes_[kRank];
  std::vector<float> mean_;
};

Data make_data(std::size_t rows) {
  Data data;
  data.rows = rows;
  Source source(rows);
  data.floats.reserve(rows * kDims);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto v = source.next();
    data.floats.insert(data.floats.end(), v.begin(), v.end());
    float peak = 0;
    for (const float x : v) peak = std::max(peak, std::fabs(x));
    data.scales.push_back(peak / 127.F);
    for (const float x : v) {
      data.codes.push_back(static_cast<std::int8_t>(std::lrintf(x / peak * 127.F)));
    }
  }
  for (std::size_t q = 0; q < kQueries; ++q) data.queries.push_back(source.next());
  return data;
}

template <class T>
Ids best_of(std::vector<std::pair<T, std::int64_t>>& scored) {
  const auto end = scored.begin() + static_cast<std::ptrdiff_t>(std::min(kTop, scored.size()));
  std::partial_sort(scored.begin(), end, scored.end(), std::greater<>());
  Ids out;
  for (auto at = scored.begin(); at != end; ++at) out.push_back(at->second);
  return out;
}

#ifdef __clang__  // which reads it for clang-tidy only
#define CLAWMARK_FAST_FLOATS
#else
#define CLAWMARK_FAST_FLOATS __attribute__((optimize("O3", "fast-math"), target("avx2,fma")))
#endif
CLAWMARK_FAST_FLOATS float dot_floats(const float* a, const float* b) {
  float sum = 0;
  for (std::size_t i = 0; i < kDims; ++i) sum += a[i] * b[i];
  return sum;
}

double recall(const Data& data, const std::vector<Ids>& found) {
  double hits = 0;
  for (std::size_t q = 0; q < found.size(); ++q) {
    const std::set<std::int64_t> wanted(data.truth[q].begin(), data.truth[q].end());
    for (const auto id : found[q]) hits += wanted.contains(id) ? 1 : 0;
  }
  return hits / static_cast<double>(found.size() * kTop);
}

double first_p50 = 0;

template <class Search>
double run(const char* what, const Data& data, std::size_t queries, const Search& search) {
  Times times;
  std::vector<Ids> found;
  for (std::size_t q = 0; q < queries; ++q) {
    times.measure([&] { found.push_back(search(data.queries[q])); });
  }
  const double p50 = times.cpu(0.5);
  if (first_p50 == 0) first_p50 = p50;
  std::printf("  %-38s %s  recall@10 %.3f  %7.1f × float32\n", what, times.text().c_str(),
              data.truth.empty() ? 1.0 : recall(data, found), first_p50 / std::max(p50, 1e-6));
  std::fflush(stdout);
  return p50;
}

// hnswlib's elements: scale, codes.
class CodeSpace final : public hnswlib::SpaceInterface<float> {
 public:
  size_t get_data_size() override { return sizeof(float) + kDims; }
  hnswlib::DISTFUNC<float> get_dist_func() override { return between; }
  void* get_dist_func_param() override { return this; }

 private:
  static float between(const void* a, const void* b, const void*) {
    float x = 0, y = 0;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    const auto dot = best_kernels().dot(static_cast<const std::int8_t*>(a) + sizeof x,
                                        static_cast<const std::int8_t*>(b) + sizeof y, kDims);
    return 1.F - x * y * static_cast<float>(dot);
  }
};

std::vector<char> element(const std::int8_t* codes, float scale) {
  std::vector<char> out(sizeof scale + kDims);
  std::memcpy(out.data(), &scale, sizeof scale);
  std::memcpy(out.data() + sizeof scale, codes, kDims);
  return out;
}

std::vector<char> query_element(const std::vector<float>& query) {
  float peak = 0;
  for (const float x : query) peak = std::max(peak, std::fabs(x));
  std::vector<std::int8_t> codes;
  for (const float x : query)
    codes.push_back(static_cast<std::int8_t>(std::lrintf(x / peak * 127.F)));
  return element(codes.data(), peak / 127.F);
}

double bench_hnswlib(const Data& data) {
  CodeSpace space;
  const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  hnswlib::HierarchicalNSW<float> graph(&space, data.rows, 16, 120, 100);
  for (std::size_t row = 0; row < data.rows; ++row) {
    graph.addPoint(element(&data.codes[row * kDims], data.scales[row]).data(), row);
  }
  std::printf("  hnswlib int8, built in %.1f s of processor time\n",
              seconds_of(CLOCK_THREAD_CPUTIME_ID) - before);
  double at_goal = 0;
  for (const std::size_t breadth : {64U, 160U, 320U}) {
    graph.setEf(breadth);
    const std::string name = "hnswlib int8, ef " + std::to_string(breadth);
    const double p50 = run(name.c_str(), data, kQueries, [&](const std::vector<float>& query) {
      auto heap = graph.searchKnn(query_element(query).data(), kTop);
      Ids out;
      for (; !heap.empty(); heap.pop()) out.push_back(static_cast<std::int64_t>(heap.top().second));
      return out;
    });
    if (breadth == 160) at_goal = p50;
  }
  return at_goal;
}

std::unique_ptr<VectorIndex> fill(const Data& data, const ScanOptions& options) {
  auto index = make_vector_index({"bench", kDims}, options);
  for (std::size_t row = 0; row < data.rows; ++row) {
    // Every tenth row belongs to a smaller audience.
    const VectorEntry entry{{static_cast<std::int64_t>(row) + 1},
                            "main",
                            row % 10 == 0 ? "few" : "most",
                            data.scales[row],
                            {&data.codes[row * kDims], kDims}};
    must(index->add(std::span(&entry, 1)));
  }
  return index;
}

Ids ask(const VectorIndex& index, const std::vector<float>& query,
        const std::vector<std::string>& audiences) {
  Ids out;
  for (const auto& hit : index.search({query, "main", audiences, kTop})) {
    out.push_back(hit.message.value - 1);
  }
  return out;
}

double bench_index(const Data& data) {
  const std::vector<std::string> all = {"few", "most"}, few = {"few"};
  {
    const auto scan = fill(data, {.full_scan_bytes = std::size_t{1} << 40, .graph_rows = 1u << 30});
    run("index, int8 scan", data, kQueries,
        [&](const auto& query) { return ask(*scan, query, all); });
  }
  const auto index = fill(data, {.graph_rows = 1});
  run("index, 1-bit scan with rescoring", data, kQueries,
      [&](const auto& query) { return ask(*index, query, all); });
  const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  while (index->improve(10'000)) {
  }
  std::printf("  index, graph built in %.1f s of processor time\n",
              seconds_of(CLOCK_THREAD_CPUTIME_ID) - before);
  const double p50 = run("index, graph", data, kQueries,
                         [&](const auto& query) { return ask(*index, query, all); });
  Times filtered;
  for (const auto& query : data.queries) {
    filtered.measure([&] { ask(*index, query, few); });
  }
  std::printf("  %-38s %s\n", "index, a tenth of the rows in sight", filtered.text().c_str());
  const auto sizes = index->sizes();
  const double raw = static_cast<double>(data.rows * kDims);
  std::printf("  memory: vectors %.2f, beside them %.2f of the int8 bytes; graph %.0f MB\n",
              static_cast<double>(sizes.vector_bytes) / raw,
              static_cast<double>(sizes.other_bytes) / raw,
              static_cast<double>(sizes.graph_bytes) / 1e6);
  const support::TempDir dir;
  const double t0 = seconds_of(CLOCK_MONOTONIC);
  must(index->save(dir / "v", {}));
  const double t1 = seconds_of(CLOCK_MONOTONIC);
  const auto loaded = must(load_vector_index(dir / "v", {"bench", kDims}));
  const double t2 = seconds_of(CLOCK_MONOTONIC);
  std::printf("  snapshot: written in %.2f s, read back (checked, linked) in %.2f s, %.0f MB\n",
              t1 - t0, t2 - t1, static_cast<double>(stat_file(dir / "v")->size) / 1e6);
  return p50;
}

double bench_sqlite_vec(const Data& data, const std::string& extension) {
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  sqlite3_enable_load_extension(db, 1);
  char* problem = nullptr;
  if (sqlite3_load_extension(db, extension.c_str(), "sqlite3_vec_init", &problem) != SQLITE_OK) {
    std::printf("  sqlite-vec cannot be loaded: %s\n", problem == nullptr ? "" : problem);
    sqlite3_close(db);
    return 0;
  }
  sqlite3_exec(db, "CREATE VIRTUAL TABLE v USING vec0(e float[512]); BEGIN", nullptr, nullptr,
               nullptr);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO v(rowid, e) VALUES(?1, ?2)", -1, &statement, nullptr);
  for (std::size_t row = 0; row < data.rows; ++row) {
    sqlite3_bind_int64(statement, 1, static_cast<std::int64_t>(row));
    sqlite3_bind_blob(statement, 2, &data.floats[row * kDims], kDims * sizeof(float),
                      SQLITE_STATIC);
    sqlite3_step(statement);
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_prepare_v2(db, "SELECT rowid FROM v WHERE e MATCH ?1 AND k = 10", -1, &statement,
                     nullptr);
  const double p50 = run("sqlite-vec, float32", data, 20, [&](const std::vector<float>& query) {
    Ids out;
    sqlite3_bind_blob(statement, 1, query.data(), kDims * sizeof(float), SQLITE_STATIC);
    while (sqlite3_step(statement) == SQLITE_ROW) out.push_back(sqlite3_column_int64(statement, 0));
    sqlite3_reset(statement);
    return out;
  });
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return p50;
}

void bench(std::size_t rows, const std::string& extension) {
  std::printf("\n%zu vectors of %zu numbers, %zu queries; kernels: %s\n", rows, kDims, kQueries,
              best_kernels().name);
  first_p50 = 0;
  Data data = make_data(rows);
  std::vector<Ids> truth;
  run("float32 scan of all", data, kQueries, [&](const std::vector<float>& query) {
    std::vector<std::pair<float, std::int64_t>> scored(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      scored[row] = {dot_floats(query.data(), &data.floats[row * kDims]),
                     static_cast<std::int64_t>(row)};
    }
    truth.push_back(best_of(scored));
    return truth.back();
  });
  data.truth = std::move(truth);
  const double ours = bench_index(data);
  const double raw = bench_hnswlib(data);
  std::printf("  graph against hnswlib (ef 160): %.2f × its time\n", ours / raw);
  if (extension.empty()) return;
  const double other = bench_sqlite_vec(data, extension);
  if (other > 0) std::printf("  graph against sqlite-vec: %.0f × as fast\n", other / ours);
}

}  // namespace
}  // namespace clawmark::bench

int main(int argc, char** argv) {
  CLI::App app("The vector leg against a scan in float32, hnswlib alone and sqlite-vec");
  std::string extension;
  std::vector<std::size_t> sizes{10'000, 100'000};
  app.add_option("rows", sizes, "how many vectors, a run for each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--sqlite-vec", extension, "the extension's file (vec0.so); without it: left out");
  CLI11_PARSE(app, argc, argv);
  for (const std::size_t rows : sizes) clawmark::bench::bench(rows, extension);
  return 0;
}
