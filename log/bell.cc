#include "log/bell.h"

#include <utility>

namespace clawmark {

void Bell::listen(Listener listener) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(listener));
}

void Bell::ring() {
  // Called on a copy: a listener may itself listen or ring.
  std::vector<Listener> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  for (const auto& listener : listeners) listener();
}

}  // namespace clawmark
