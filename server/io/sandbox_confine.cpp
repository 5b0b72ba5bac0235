// The child's side: resource limits, and a filter of system calls.
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

#include "server/io/sandbox.h"

namespace sdip {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

void require(bool done) {
  if (!done) ::_exit(exit_unconfined);
}

void limit(__rlimit_resource resource, std::int64_t soft, std::int64_t hard) {
  const rlimit both{static_cast<rlim_t>(soft), static_cast<rlim_t>(hard)};
  require(::setrlimit(resource, &both) == 0);
}

/// Allows the system calls that memory, exceptions and the end of a process need, and threads where there may be
/// some; any other call kills.
void filter_calls(bool threads) {
  scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_KILL_PROCESS);
  require(filter != nullptr);
  const auto allow = [&](int call, std::initializer_list<scmp_arg_cmp> conditions = {}) {
    const auto count = static_cast<unsigned>(conditions.size());
    require(::seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, count, conditions.begin()) == 0);
  };
  const auto equal = [](unsigned argument, std::uint64_t value) {
    return scmp_arg_cmp{argument, SCMP_CMP_EQ, value, 0};
  };
  const auto bits = [](unsigned argument, std::uint64_t mask, std::uint64_t value) {
    return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, mask, value};
  };
  for (const int call : {SCMP_SYS(munmap), SCMP_SYS(brk), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex),
                         SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask),
                         SCMP_SYS(clock_gettime), SCMP_SYS(getrandom), SCMP_SYS(getpid), SCMP_SYS(gettid)})
    allow(call);
  // The answer, and nothing else; memory that is no file's and holds no code; the signal that abort sends.
  allow(SCMP_SYS(write), {equal(0, 1)});
  allow(SCMP_SYS(mmap), {bits(2, PROT_EXEC, 0), bits(3, MAP_ANONYMOUS, MAP_ANONYMOUS)});
  allow(SCMP_SYS(mprotect), {bits(2, PROT_EXEC, 0)});
  allow(SCMP_SYS(tgkill), {equal(0, static_cast<std::uint64_t>(::getpid())), equal(2, SIGABRT)});
  if (threads) {
    for (const int call : {SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_getaffinity),
                           SCMP_SYS(sched_yield), SCMP_SYS(clock_nanosleep)})
      allow(call);
    allow(SCMP_SYS(rt_sigaction), {equal(0, 33)});  // the library's own signal, when the first thread begins
    allow(SCMP_SYS(clone), {bits(0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM)});
    // Its flags stand in memory, where a filter cannot look: the library then does without.
    require(::seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, nullptr) == 0);
    // An arena of malloc that shrinks asks for the system's setting, and does without.
    require(::seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(openat), 0, nullptr) == 0);
  }
  require(::seccomp_load(filter) == 0);
  ::seccomp_release(filter);
}

}  // namespace

bool confines_fully() { return !sanitized; }

void confine(const ChildLimits& limits, std::int64_t file_bytes) {
  require(::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
  require(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_FSIZE, 0, 0);
  if (limits.cpu_s > 0) limit(RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1);
  if (sanitized) return;
  limit(RLIMIT_NOFILE, 0, 0);
  limit(RLIMIT_AS, limits.memory_bytes + file_bytes, limits.memory_bytes + file_bytes);
  filter_calls(limits.threads > 1);
}

}  // namespace sdip
