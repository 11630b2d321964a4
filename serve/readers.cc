#include "serve/readers.h"

#include <utility>

#include "projections/search.h"

namespace clawmark {
namespace {
constexpr std::size_t kIdleMax = 8;
}  // namespace

Readers::Lease::Lease(Lease&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), db_(std::move(other.db_)) {
  other.db_.reset();
}

Readers::Lease::~Lease() {
  if (owner_ == nullptr || !db_ || db_->in_transaction()) return;
  db_->set_progress(nullptr);
  const std::lock_guard lock(owner_->mutex_);
  if (owner_->idle_.size() < kIdleMax) owner_->idle_.push_back(std::move(*db_));
}

Result<Readers::Lease> Readers::lease() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Database db = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(db));
    }
  }
  CLAWMARK_ASSIGN(Database db, open_());
  CLAWMARK_TRY(register_search(db));
  return Lease(*this, std::move(db));
}

void Readers::clear() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

}  // namespace clawmark
