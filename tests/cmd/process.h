#pragma once
// Programs of ours as processes: started with a given environment, output kept, waited for.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/fixtures.h"

namespace clawmark::support {

struct Outcome {
  int code = -1;    // exit code; 128 + signal when killed
  std::string out;  // standard output
  std::string err;
};

class Process {
 public:
  using Environment = std::map<std::string, std::string>;
  // `program` without '/' is looked for beside the tests' own binary. Only these variables are set.
  Process(const std::string& program, std::vector<std::string> arguments, Environment environment);
  ~Process();  // kills it when it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number);
  bool is_running();
  Outcome wait();
  std::string out() const { return read_text(dir_ / "out"); }
  std::string err() const { return read_text(dir_ / "err"); }
  pid_t pid() const { return pid_; }

 private:
  TempDir dir_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

Outcome run(const std::string& program, std::vector<std::string> arguments,
            Process::Environment environment);

// A line of the shell: exit code, and both of its outputs in `out`.
Outcome in_shell(const std::string& command);

// Lets programs run on for so long, where only the moment matters at which they are disturbed.
void let_run(std::int64_t ms);

// Looks again until it is true; false when a minute has passed.
bool eventually(const std::function<bool()>& condition);

}  // namespace clawmark::support
