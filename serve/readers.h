#pragma once
// Read-only connections for handlers: opened when first needed, lent to one thread at a time, ready
// to search.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"

namespace clawmark {

class Readers {
 public:
  using Open = std::function<Result<Database>()>;
  // `open`: Store::open_read_only of the store, as a rule.
  explicit Readers(Open open) : open_(std::move(open)) {}

  // Gives the connection back when it goes.
  class Lease {
   public:
    Lease(Readers& owner, Database db) : owner_(&owner), db_(std::move(db)) {}
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    Database& operator*() { return *db_; }
    Database* operator->() { return &*db_; }
    void drop() { db_.reset(); }  // do not give back: it has failed

   private:
    Readers* owner_;
    std::optional<Database> db_;
  };
  Result<Lease> lease();
  void clear();  // closes idle ones (the store was replaced)

 private:
  Open open_;
  std::mutex mutex_;
  std::vector<Database> idle_;
};

}  // namespace clawmark
