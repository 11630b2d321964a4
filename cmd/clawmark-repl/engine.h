#pragma once
// The JavaScript engine (SpiderMonkey, interpreter only) and its one realm.

#include <memory>
#include <string>
#include <string_view>

namespace clawmark::repl {

struct Outcome {
  std::string output;  // what was printed
  bool output_cut = false;
  int prints_lost = 0;     // behind the cut
  std::string final_json;  // of FINAL; empty: it was not called
  std::string error;       // empty: none
  bool stopped = false;    // by the processor limit
};

class Engine {
 public:
  // nullptr: the engine does not start. One in a process.
  static std::unique_ptr<Engine> start();
  ~Engine();
  // The member "code" of the service's frame; false: there is none. Its "cpu_ms" lowers the limit.
  bool read_code(std::string& code);
  Outcome run(std::string_view code);
  static bool finish(const Outcome& outcome);  // tells the service

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace clawmark::repl
