#include "serve/vector_graph.h"

#include <algorithm>
#include <cstring>
#include <queue>

// Its own kernels read past the end of lists and are chosen when it is compiled; ours are used.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

namespace clawmark {
namespace {

constexpr std::size_t kLinks = 16;          // of a row and level; twice as many at the ground
constexpr std::size_t kBuildBreadth = 120;  // below 100, recall falls with the number of rows
constexpr std::size_t kFirstRoom = 1024;
constexpr std::size_t kSeed = 100;

using Id = hnswlib::tableint;
using Scored = std::pair<float, Id>;  // distance, row

// What hnswlib keeps of a row is its number.
class RowSpace final : public hnswlib::SpaceInterface<float> {
 public:
  explicit RowSpace(GraphRows rows) : rows_(rows) {}
  size_t get_data_size() override { return sizeof(std::uint32_t); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return between; }
  void* get_dist_func_param() override { return this; }

  const std::int8_t* codes(std::uint32_t row) const { return &(*rows_.codes)[row * rows_.padded]; }
  float to(const std::int8_t* query, float scale, std::uint32_t row) const {
    const std::int32_t dot = rows_.kernels->dot(query, codes(row), rows_.padded);
    return 1.F - scale * (*rows_.scales)[row] * static_cast<float>(dot);
  }
  void prefetch(std::uint32_t row) const {
    const std::int8_t* at = codes(row);
    for (std::size_t i = 0; i < rows_.padded; i += 128) __builtin_prefetch(at + i);
  }

 private:
  static float between(const void* a, const void* b, const void* self) {
    const auto* space = static_cast<const RowSpace*>(self);
    std::uint32_t x = 0, y = 0;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    return space->to(space->codes(x), (*space->rows_.scales)[x], y);
  }

  GraphRows rows_;
};

struct Header {
  std::uint64_t rows = 0, entry = 0, upper_bytes = 0, per_row = 0;
  std::int64_t top_level = -1;
};

}  // namespace

struct VectorGraph::State {
  explicit State(GraphRows rows)
      : space(rows), graph(&space, kFirstRoom, kLinks, kBuildBreadth, kSeed) {
    graph.num_deleted_ = 0;
  }

  RowSpace space;
  hnswlib::HierarchicalNSW<float> graph;
};

VectorGraph::VectorGraph(GraphRows rows) : state_(std::make_unique<State>(rows)) {}
VectorGraph::~VectorGraph() = default;

std::size_t VectorGraph::size() const {
  return state_->graph.cur_element_count;
}

std::size_t VectorGraph::bytes() const {
  const auto& graph = state_->graph;
  return graph.max_elements_ * (graph.size_data_per_element_ + 2 * sizeof(std::mutex) + 12);
}

void VectorGraph::add_next() {
  auto& graph = state_->graph;
  if (graph.cur_element_count >= graph.max_elements_) {
    graph.resizeIndex(graph.max_elements_ + std::max(kFirstRoom, graph.max_elements_ / 4));
  }
  const auto row = static_cast<std::uint32_t>(graph.cur_element_count);
  graph.addPoint(&row, row);
  graph.label_lookup_.clear();  // rows are numbered as they came: nobody asks by label
}

std::vector<std::pair<float, std::uint32_t>> VectorGraph::search(
    const std::int8_t* query, float scale, std::size_t wanted, std::size_t breadth,
    const std::function<bool(std::uint32_t)>& open) const {
  const auto& graph = state_->graph;
  const RowSpace& space = state_->space;
  if (graph.cur_element_count == 0) return {};
  Id at = graph.enterpoint_node_;
  float nearest = space.to(query, scale, at);
  for (int level = graph.maxlevel_; level > 0; --level) {
    for (bool moved = true; moved;) {
      moved = false;
      auto* list = graph.get_linklist(at, level);
      const auto count = graph.getListCount(list);
      const Id* links = reinterpret_cast<const Id*>(list + 1);
      for (std::size_t i = 0; i < count; ++i) {
        const float distance = space.to(query, scale, links[i]);
        if (distance >= nearest) continue;
        nearest = distance;
        at = links[i];
        moved = true;
      }
    }
  }
  auto* visited = graph.visited_list_pool_->getFreeVisitedList();
  std::priority_queue<Scored> best;                                          // the worst on top
  std::priority_queue<Scored, std::vector<Scored>, std::greater<>> waiting;  // the nearest on top
  breadth = std::max(breadth, wanted);
  const auto meet = [&](float distance, Id row) {
    waiting.emplace(distance, row);
    if (!open(row)) return;
    best.emplace(distance, row);
    if (best.size() > breadth) best.pop();
  };
  meet(nearest, at);
  visited->mass[at] = visited->curV;
  std::vector<Id> fresh;
  while (!waiting.empty()) {
    const auto [distance, row] = waiting.top();
    if (best.size() >= breadth && distance > best.top().first) break;
    waiting.pop();
    auto* list = graph.get_linklist0(row);
    const auto count = graph.getListCount(list);
    const Id* links = reinterpret_cast<const Id*>(list + 1);
    fresh.clear();
    for (std::size_t i = 0; i < count; ++i) {
      if (visited->mass[links[i]] == visited->curV) continue;
      visited->mass[links[i]] = visited->curV;
      space.prefetch(links[i]);
      fresh.push_back(links[i]);
    }
    for (const Id next : fresh) {
      const float to_next = space.to(query, scale, next);
      if (best.size() < breadth || to_next < best.top().first) meet(to_next, next);
    }
  }
  graph.visited_list_pool_->releaseVisitedList(visited);
  while (best.size() > wanted) best.pop();
  std::vector<std::pair<float, std::uint32_t>> out(best.size());
  for (std::size_t i = best.size(); i-- > 0; best.pop()) out[i] = best.top();
  return out;
}

void VectorGraph::save(std::vector<std::span<const char>>& parts,
                       std::vector<std::vector<char>>& owned) const {
  const auto& graph = state_->graph;
  const std::size_t rows = graph.cur_element_count;
  std::vector<char> upper;
  for (std::size_t row = 0; row < rows; ++row) {
    const int levels = graph.element_levels_[row];
    upper.push_back(static_cast<char>(levels));
    if (levels == 0) continue;
    const char* links = graph.linkLists_[row];
    upper.insert(upper.end(), links,
                 links + graph.size_links_per_element_ * static_cast<std::size_t>(levels));
  }
  Header header{rows, graph.enterpoint_node_, upper.size(), graph.size_data_per_element_,
                graph.maxlevel_};
  std::vector<char> head(sizeof header);
  std::memcpy(head.data(), &header, sizeof header);
  owned.push_back(std::move(head));
  owned.push_back(std::move(upper));
  parts.push_back({owned[owned.size() - 2].data(), sizeof header});
  parts.push_back({graph.data_level0_memory_, rows * graph.size_data_per_element_});
  parts.push_back({owned.back().data(), owned.back().size()});
}

bool VectorGraph::load(std::span<const char> bytes, std::size_t rows) {
  auto& graph = state_->graph;
  Header header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes = bytes.subspan(sizeof header);
  if (header.rows > rows || header.rows == 0 || header.entry >= header.rows ||
      header.per_row != graph.size_data_per_element_ ||
      bytes.size() != header.rows * header.per_row + header.upper_bytes) {
    return false;
  }
  const auto count = static_cast<std::size_t>(header.rows);
  graph.resizeIndex(std::max(kFirstRoom, count + count / 8));
  std::memcpy(graph.data_level0_memory_, bytes.data(), count * header.per_row);
  std::span<const char> upper = bytes.subspan(count * header.per_row);
  for (std::size_t row = 0; row < count; ++row) {
    const auto levels = upper.empty() ? 0U : static_cast<unsigned char>(upper.front());
    const std::size_t size = levels * graph.size_links_per_element_;
    if (upper.size() < 1 + size) return false;
    graph.element_levels_[row] = static_cast<int>(levels);
    graph.linkLists_[row] = nullptr;
    if (levels > 0) {
      graph.linkLists_[row] = static_cast<char*>(std::malloc(size));
      std::memcpy(graph.linkLists_[row], upper.data() + 1, size);
    }
    upper = upper.subspan(1 + size);
    graph.cur_element_count = row + 1;  // what the destructor frees
  }
  graph.enterpoint_node_ = static_cast<Id>(header.entry);
  graph.maxlevel_ = static_cast<int>(header.top_level);
  return true;
}

}  // namespace clawmark
