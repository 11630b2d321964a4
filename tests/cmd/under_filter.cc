// under_filter CALLS PROGRAM ARGUMENTS…: runs a program with only the system calls whose names
// stand in the file CALLS; all others fail with EPERM, as under a unit's SystemCallFilter=.

#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) return 3;
  std::ifstream names(argv[1]);
  std::string name;
  while (std::getline(names, name)) {
    const int call = seccomp_syscall_resolve_name(name.c_str());
    if (call == __NR_SCMP_ERROR) continue;  // of another kernel or processor
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) != 0) return 3;
  }
  if (seccomp_load(filter) != 0) return 3;
  ::execv(argv[2], argv + 2);
  std::perror(argv[2]);
  return 1;
}
