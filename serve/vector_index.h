#pragma once
// Nearest neighbours among the vectors of one model, with deletes and an exact filter by audience.
// In memory: int8 vectors; 1-bit codes in front of them once the scan would be slow; a graph once
// that would be slow too. A search sees only rows of its audiences: the filter comes before the
// choice of the best, so a small audience never loses hits to a large one.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log/event.h"
#include "models/model.h"
#include "serve/vector_snapshot.h"

namespace clawmark {

// One chunk's vector as stored: value[i] = scale × codes[i].
struct VectorEntry {
  Seq message;
  std::string agent, audience;
  float scale = 0;
  std::span<const std::int8_t> codes;  // model().dims of them
};

struct VectorHit {
  Seq message;
  double cosine = 0;  // of the message's best chunk
};

struct VectorQuery {
  std::span<const float> vector;  // unit length
  std::string_view agent;
  std::span<const std::string> audiences;
  std::size_t limit = 50;  // messages
};

// Safe from several threads: searches run side by side, changes wait for them.
class VectorIndex {
 public:
  virtual ~VectorIndex() = default;
  virtual ModelId model() const = 0;
  // Error: invalid, reason "dims" (nothing is added).
  virtual Status add(std::span<const VectorEntry> entries) = 0;
  virtual void remove(std::span<const Seq> messages) = 0;  // all chunks of each
  // Best first; equal cosines by message. Empty when the query's length is not the model's.
  virtual std::vector<VectorHit> search(const VectorQuery& query) const = 0;
  // Cosine of each message's best chunk; 0 where there is none.
  virtual std::vector<double> cosines(std::span<const float> vector,
                                      std::span<const Seq> messages) const = 0;
  // Mean and spread of the query's cosines over the rows that it may see (a sample of them): what
  // "unrelated" looks like for this model and history. Rows: how many were looked at.
  struct Background {
    double mean = 0, deviation = 0;
    std::size_t rows = 0;
  };
  virtual Background background(const VectorQuery& query) const = 0;
  // Links up to `rows` further rows into the graph, one lock for each, and fewer (one at least)
  // when somebody asks meanwhile; true: more are waiting. For the one thread that also adds and
  // removes.
  virtual bool improve(std::size_t rows) = 0;
  virtual std::uint64_t questions() const = 0;  // reads for questions so far
  // A copy on disk, and how large it is worth making one: rows changed since the last.
  virtual Status save(const std::string& path, const IndexStamp& stamp) = 0;
  virtual std::size_t unsaved() const = 0;
  struct Sizes {
    std::size_t rows = 0, linked = 0;  // vectors, and those in the graph
    std::size_t vector_bytes = 0, graph_bytes = 0, other_bytes = 0;
  };
  virtual Sizes sizes() const = 0;
  virtual std::size_t size() const = 0;           // vectors
  virtual std::vector<Seq> messages() const = 0;  // ascending, each once
};

struct ScanOptions {
  // Bytes of codes up to which every row is compared in full; above, 1-bit codes choose candidates
  // first.
  std::size_t full_scan_bytes = 4u << 20;
  std::size_t rescored = 600;  // candidates of the 1-bit pass
  // Rows from which a graph is made, and how widely it is searched (docs/decisions/0011).
  std::size_t graph_rows = 100'000;
  std::size_t graph_breadth = 160;
  bool plain_kernels = false;
};

std::unique_ptr<VectorIndex> make_vector_index(const ModelId& model,
                                               const ScanOptions& options = {});

struct LoadedIndex {
  std::unique_ptr<VectorIndex> index;
  IndexStamp stamp;
};
// What save() wrote. Errors of MappedSnapshot::open; invalid "snapshot_model" for another model's.
Result<LoadedIndex> load_vector_index(const std::string& path, const ModelId& model,
                                      const ScanOptions& options = {});

}  // namespace clawmark
