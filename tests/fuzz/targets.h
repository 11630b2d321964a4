#pragma once
// Inputs that others control, each as a function of bytes: it may refuse anything, but must end,
// stay within its memory, and keep what its header promises (std::abort when it does not).

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace clawmark::fuzz {

void fuzz_entry(std::string_view data);   // a line of a transcript, whole and in pieces
void fuzz_answer(std::string_view data);  // what a chat model wrote; what an endpoint sent
void fuzz_http(std::string_view data);    // a request's bytes; its body through the interface
void fuzz_guard(std::string_view data);   // texts inside our guard, cut to a budget
void fuzz_query(std::string_view data);   // what someone searches for
void fuzz_config(std::string_view data);  // configuration file and values
void fuzz_event(std::string_view data);   // payloads into the log and back
void fuzz_lcm(std::string_view data);     // rows and positions of an LCM database

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace clawmark::fuzz
