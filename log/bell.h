#pragma once
// Tells waiting workers that the log grew. A hint only: each of them also polls.

#include <functional>
#include <mutex>
#include <vector>

namespace clawmark {

class Bell {
 public:
  using Listener = std::function<void()>;
  // Called from the thread that rings; must return at once. Listeners live as long as the bell.
  void listen(Listener listener);
  void ring();

 private:
  std::mutex mutex_;
  std::vector<Listener> listeners_;
};

}  // namespace clawmark
