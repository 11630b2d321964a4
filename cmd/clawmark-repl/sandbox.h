#pragma once
// Takes everything from this process that running foreign code does not need.

#include <cstddef>
#include <string_view>

namespace clawmark::repl {

constexpr int kSocket = 3;                                   // the one open descriptor
constexpr std::size_t kHeapBytes = std::size_t{64} << 20;    // of the garbage-collected heap
constexpr std::size_t kSpaceBytes = std::size_t{512} << 20;  // of everything: also what escapes it
constexpr std::size_t kStackBytes = std::size_t{512} << 10;  // of nested calls
constexpr int kCpuMs = 2000;                                 // of one run; the hard stop is later

// Limits of the kernel: memory, processor time, no files, no core. Before the engine starts.
// False: the kernel refused.
bool limit_resources();
// No new privileges, and system calls by a short list, on all threads; a forbidden one kills. Once
// the engine has started; there is no way back.
bool lock_down();

// Does what foreign code must never be able to do, for the tests: 0 when it was possible, 1 when
// the kernel said no; as a rule it does not return at all. -1: there is no such probe.
int probe(std::string_view name);

}  // namespace clawmark::repl
