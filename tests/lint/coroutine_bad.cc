// Input of the lint's self-test: each function named bad_… holds one form that coroutine.query must
// find, each named good_… none. In no target: g++ 12 turns the first three into double frees.

#include <coroutine>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  bool await_ready() const { return true; }
  void await_suspend(std::coroutine_handle<>) const {}
  int await_resume() const { return 1; }
};

struct Options {
  std::string model;
  int retries = 0;
};

Task call(std::function<void()> work);
Task ask(Options options);
Task list(std::initializer_list<std::string> names);
Task text(std::string words);

Task bad_closure(std::string s) {
  co_await call([s] { (void)s.size(); });
}

Task bad_aggregate(std::string s) {
  co_await ask(Options{.model = s});
}

Task bad_braces(std::string s) {
  co_await ask({s, 2});
}

Task bad_list() {
  co_await list({"a", "b"});
}

Task bad_conditional(bool b) {
  const int n = b ? co_await text(std::string("x")) : 2;
  (void)n;
}

Task bad_choice(bool b, std::string s) {
  co_await text(b ? s : std::string("other"));
}

Task good(bool b, std::string s) {
  auto work = [s] { (void)s.size(); };
  co_await call(std::move(work));
  Options options{.model = s};
  co_await ask(std::move(options));
  std::string chosen = b ? s : std::string("other");
  co_await text(std::move(chosen));
  co_await text("literal");
  if (co_await text(std::string("x")) > 0) co_return;
}
