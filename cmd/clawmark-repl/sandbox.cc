#include "cmd/clawmark-repl/sandbox.h"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>

namespace clawmark::repl {
namespace {

constexpr rlim_t kCpuHardSeconds = 4;

// What an engine without files, threads and network needs.
constexpr int kAllowed[] = {
    SCMP_SYS(exit),        SCMP_SYS(exit_group),   SCMP_SYS(brk),
    SCMP_SYS(munmap),      SCMP_SYS(madvise),      SCMP_SYS(mremap),
    SCMP_SYS(futex),       __SNR_clock_gettime,    __SNR_gettimeofday,
    __SNR_getrandom,       SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(sigaltstack), SCMP_SYS(sched_yield),  SCMP_SYS(restart_syscall),
    SCMP_SYS(getrusage),   SCMP_SYS(getpid),       SCMP_SYS(gettid)};

// What libraries try and can do without: refused, not fatal.
constexpr int kRefused[] = {
    SCMP_SYS(open),   SCMP_SYS(openat),   SCMP_SYS(stat),   SCMP_SYS(newfstatat),
    SCMP_SYS(access), SCMP_SYS(readlink), SCMP_SYS(getcwd), SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu), SCMP_SYS(sysinfo),  SCMP_SYS(uname),  SCMP_SYS(clock_getres)};

// 32-bit halves of an argument are compared by the kernel as one number.
bool add_rules(scmp_filter_ctx filter) {
  for (const int call : kAllowed) {
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) != 0) return false;
  }
  for (const int call : kRefused) {
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), call, 0) != 0) return false;
  }
  for (const int call : {SCMP_SYS(read), SCMP_SYS(write)}) {
    const scmp_arg_cmp only_socket{0, SCMP_CMP_EQ, kSocket, 0};
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, only_socket) != 0) return false;
  }
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    const scmp_arg_cmp not_executable{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, not_executable) != 0) return false;
  }
  return true;
}

bool set_limit(__rlimit_resource what, rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  return ::setrlimit(what, &limit) == 0;
}

int worked(long result) {
  return result >= 0 ? 0 : 1;
}

}  // namespace

bool limit_resources() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not without the service
  return set_limit(RLIMIT_AS, kSpaceBytes, kSpaceBytes) &&
         set_limit(RLIMIT_CPU, kCpuHardSeconds, kCpuHardSeconds) && set_limit(RLIMIT_FSIZE, 0, 0) &&
         set_limit(RLIMIT_CORE, 0, 0);
}

bool lock_down() {
  if (!set_limit(RLIMIT_NOFILE, 0, 0) || !set_limit(RLIMIT_NPROC, 0, 0)) return false;
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return false;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  const std::unique_ptr<void, void (*)(void*)> filter(seccomp_init(SCMP_ACT_KILL_PROCESS),
                                                      seccomp_release);
  if (!filter) return false;
  // Also on threads that the engine may have started.
  if (seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1) != 0) return false;
  return add_rules(filter.get()) && seccomp_load(filter.get()) == 0;
}

int probe(std::string_view name) {
  char buffer[16] = {};
  if (name == "socket") return worked(::syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
  if (name == "connect") return worked(::syscall(SYS_connect, kSocket, buffer, sizeof buffer));
  if (name == "fork") return worked(::syscall(SYS_fork));
  if (name == "clone") return worked(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (name == "exec") return worked(::syscall(SYS_execve, "/bin/true", nullptr, nullptr));
  if (name == "open") return worked(::syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
  if (name == "create") return worked(::syscall(SYS_openat, AT_FDCWD, "/tmp/x", O_CREAT, 0600));
  if (name == "unlink") return worked(::syscall(SYS_unlink, "/tmp/x"));
  if (name == "mkdir") return worked(::syscall(SYS_mkdir, "/tmp/x", 0700));
  if (name == "kill") return worked(::syscall(SYS_kill, ::getppid(), SIGTERM));
  if (name == "ptrace") return worked(::syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
  if (name == "read_memory") return worked(::syscall(SYS_process_vm_readv, 1, 0, 0, 0, 0, 0));
  if (name == "dup") return worked(::syscall(SYS_dup, kSocket));
  if (name == "read_stdin") return worked(::syscall(SYS_read, 0, buffer, sizeof buffer));
  if (name == "write_stderr") return worked(::syscall(SYS_write, 2, buffer, 1));
  if (name == "executable_memory") {
    return worked(::syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  if (name == "make_executable") {
    return worked(::syscall(SYS_mprotect, &buffer, 4096, PROT_READ | PROT_EXEC));
  }
  if (name == "raise_limit") {
    const rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    return worked(::syscall(SYS_prlimit64, 0, RLIMIT_AS, &limit, nullptr));
  }
  if (name == "drop_filter") return worked(::syscall(SYS_prctl, PR_SET_SECCOMP, 0, 0, 0, 0));
  if (name == "sleep") {
    const timespec hour{3600, 0};
    return worked(::syscall(SYS_nanosleep, &hour, nullptr));
  }
  if (name == "unshare") return worked(::syscall(SYS_unshare, 0));
  if (name == "bpf") return worked(::syscall(SYS_bpf, 0, buffer, sizeof buffer));
  if (name == "io_uring") return worked(::syscall(SYS_io_uring_setup, 1, buffer));
  return -1;
}

}  // namespace clawmark::repl
