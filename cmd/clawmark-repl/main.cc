// clawmark-repl: runs one script that a model wrote, in a process that can do nothing but think and
// ask the service on the other end of its one socket. Started by the service; of no use by hand.

#include <cstdlib>
#include <cstring>
#include <string>

#include "cmd/clawmark-repl/engine.h"
#include "cmd/clawmark-repl/sandbox.h"

namespace {

enum ExitCode : int { kDone = 0, kNoService = 2, kNoSandbox = 3, kNoEngine = 4 };

int run() {
  using namespace clawmark::repl;
  if (!limit_resources()) return kNoSandbox;
  const auto engine = Engine::start();
  if (!engine) return kNoEngine;
  if (!lock_down()) return kNoSandbox;
  std::string code;
  if (!engine->read_code(code)) return kNoService;
  return Engine::finish(engine->run(code)) ? kDone : kNoService;
}

}  // namespace

int main(int argc, char** argv) {
  int status = 0;
  if (argc == 3 && std::strcmp(argv[1], "--probe") == 0) {
    using namespace clawmark::repl;
    const bool ready = limit_resources() && Engine::start() && lock_down();
    status = ready ? probe(argv[2]) : kNoSandbox;
  } else {
    status = run();
  }
  std::_Exit(status);  // no destructors: they would call what is no longer allowed
}
