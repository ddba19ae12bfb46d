#include "sim/programs/calls.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sim/points/clock_page.h"
#include "sim/points/mark_call.h"
#include "sim/points/word_queue.h"
#include "sim/programs/blocked_call.h"
#include "sim/programs/chance.h"
#include "sim/programs/clocks.h"
#include "sim/programs/descriptors.h"
#include "sim/programs/guard_points.h"
#include "sim/programs/marks.h"
#include "sim/programs/named_pipe.h"
#include "sim/programs/process.h"
#include "sim/programs/sandbox.h"
#include "sim/programs/signals.h"
#include "sim/programs/surroundings.h"
#include "transport/fault/plan/memory_question.h"
#include "transport/fault/plan/question.h"
#include "transport/realtime/point_call.h"

namespace anyrdma::sim::programs {
namespace {

using Handler = Outcome (*)(Thread&, const Call&);

struct Known {
  long number;
  const char* name;
  Handler handler;
};

template <Outcome (Timers::*member)(Thread&, const Call&)>
Outcome timer(Thread& thread, const Call& call) {
  return (thread.sandbox().timers().*member)(thread, call);
}

template <Outcome (Sockets::*member)(Thread&, const Call&)>
Outcome socket(Thread& thread, const Call& call) {
  return (thread.sandbox().sockets().*member)(thread, call);
}

Outcome on_futex(Thread& thread, const Call& call) {
  return thread.sandbox().futexes().call(thread, call);
}

Outcome on_exit(Thread& thread, const Call& /*call*/) {
  thread.set_ends_alone();
  return Outcome::made();
}

using transport::realtime::kNoPoints;
using transport::realtime::kPointCall;
using transport::realtime::kPollCall;

/// A poll in vain.
Outcome on_poll_in_vain(Thread& thread, const Call& /*call*/) {
  thread.yield();
  return thread.is_over() ? Outcome::over() : Outcome::answered(0);
}

/// A lock or a verbs call. Others have gone on before it is made, if that was wanted.
Outcome on_point(Thread& thread, const Call& /*call*/) {
  return Outcome::answered(thread.sandbox().world().scheduler().chooses() ? 0 : kNoPoints);
}

/// Features that programs do without if they are told that the kernel has not got them.
Outcome on_missing(Thread& /*thread*/, const Call& /*call*/) {
  return Outcome::answered(-ENOSYS);
}

/// After a signal that nobody heard of, the kernel would go on counting in real time.
Outcome on_restart(Thread& /*thread*/, const Call& /*call*/) {
  return Outcome::answered(-EINTR);
}

/// Where it reads its clocks from now on.
Outcome on_clock_page(Thread& thread, const Call& call) {
  auto& clock = thread.process().clock;
  clock = SharedClock::map(thread.borrow(static_cast<int>(call.arguments[0])));
  return Outcome::answered(clock == nullptr ? -EINVAL : 0);
}

/// Where it leaves words from now on.
Outcome on_shared_words(Thread& thread, const Call& call) {
  auto& words = thread.process().words;
  words = SharedWords::map(thread.borrow(static_cast<int>(call.arguments[0])));
  return Outcome::answered(words == nullptr ? -EINVAL : 0);
}

Outcome on_mmap(Thread& thread, const Call& call) {
  thread.map_code(call);
  return Outcome::made();
}

Outcome on_mprotect(Thread& thread, const Call& /*call*/) {
  if (thread.finish_call()) thread.look_at_new_code();
  return Outcome::made();
}

/// Of the fault plan, or what the checkers want to hear.
Outcome on_question(Thread& thread, const Call& call) {
  const std::uint64_t address = call.arguments[0];
  auto question = thread.tracee().peek<fault::Question>(address);
  if (!question || call.arguments[1] != sizeof *question) return Outcome::answered(-EFAULT);
  const Duration delay = thread.process().host->advise(thread.process().full_name, *question);
  if (delay > Duration::zero() && !thread.spend(delay)) return Outcome::over();
  return Outcome::answered(thread.tracee().poke(address, *question) ? 0 : -EFAULT);
}

/// What its device is to do to memory.
Outcome on_memory(Thread& thread, const Call& call) {
  constexpr std::uint64_t kChoicesMax = 1 << 16;
  const std::uint64_t count = call.arguments[0];
  if (count < 2 || count > kChoicesMax) return Outcome::answered(-EINVAL);
  const auto choice = thread.sandbox().world().memory().choose(static_cast<std::uint32_t>(count));
  return Outcome::answered(static_cast<long>(choice));
}

constexpr auto kKnown = std::to_array<Known>({
    {kPointCall, "a scheduling point", on_point},
    {kPollCall, "a poll in vain", on_poll_in_vain},
    {kGuardCall, "an instrumented block", on_guard},
    {kMarkCall, "a mark", on_mark},
    {fault::kMemoryCall, "a choice of memory", on_memory},
    {kClockCall, "a clock to share", on_clock_page},
    {SYS_mmap, "mmap", on_mmap},
    {SYS_mprotect, "mprotect", on_mprotect},
    {SYS_pkey_mprotect, "pkey_mprotect", on_mprotect},
    {SYS_futex, "futex", on_futex},
    {SYS_exit, "exit", on_exit},
    {SYS_clock_gettime, "clock_gettime", on_clock_gettime},
    {SYS_clock_getres, "clock_getres", on_clock_getres},
    {SYS_gettimeofday, "gettimeofday", on_gettimeofday},
    {SYS_time, "time", on_time},
    {SYS_times, "times", on_times},
    {SYS_getrusage, "getrusage", on_getrusage},
    {SYS_nanosleep, "nanosleep", on_nanosleep},
    {SYS_clock_nanosleep, "clock_nanosleep", on_clock_nanosleep},
    {SYS_sched_yield, "sched_yield", on_sched_yield},
    {SYS_restart_syscall, "restart_syscall", on_restart},
    {SYS_socket, "socket", socket<&Sockets::on_socket>},
    {SYS_bind, "bind", socket<&Sockets::on_bind>},
    {SYS_listen, "listen", socket<&Sockets::on_listen>},
    {SYS_connect, "connect", socket<&Sockets::on_connect>},
    {SYS_getsockname, "getsockname", socket<&Sockets::on_getsockname>},
    {SYS_getpeername, "getpeername", socket<&Sockets::on_getpeername>},
    {SYS_setsockopt, "setsockopt", socket<&Sockets::on_setsockopt>},
    {SYS_getsockopt, "getsockopt", socket<&Sockets::on_getsockopt>},
    {SYS_ioctl, "ioctl", socket<&Sockets::on_ioctl>},
    {SYS_read, "read", socket<&Sockets::on_read>},
    {SYS_readv, "readv", socket<&Sockets::on_readv>},
    {SYS_accept, "accept", socket<&Sockets::on_accept>},
    {SYS_accept4, "accept4", socket<&Sockets::on_accept>},
    {SYS_recvfrom, "recvfrom", socket<&Sockets::on_recvfrom>},
    {SYS_recvmsg, "recvmsg", socket<&Sockets::on_recvmsg>},
    {SYS_recvmmsg, "recvmmsg", socket<&Sockets::on_recvmmsg>},
    {SYS_write, "write", socket<&Sockets::on_write>},
    {SYS_writev, "writev", socket<&Sockets::on_writev>},
    {SYS_sendto, "sendto", socket<&Sockets::on_sendto>},
    {SYS_sendmsg, "sendmsg", socket<&Sockets::on_sendmsg>},
    {SYS_sendmmsg, "sendmmsg", socket<&Sockets::on_sendmmsg>},
    {SYS_poll, "poll", on_poll},
    {SYS_ppoll, "ppoll", on_ppoll},
    {SYS_select, "select", on_select},
    {SYS_pselect6, "pselect6", on_pselect},
    {SYS_epoll_wait, "epoll_wait", on_epoll_wait},
    {SYS_epoll_pwait, "epoll_pwait", on_epoll_wait},
    {SYS_epoll_pwait2, "epoll_pwait2", on_epoll_pwait2},
    {SYS_flock, "flock", on_flock},
    {SYS_fcntl, "fcntl", on_lock},
    {SYS_timerfd_create, "timerfd_create", timer<&Timers::on_timerfd_create>},
    {SYS_timerfd_settime, "timerfd_settime", timer<&Timers::on_timerfd_settime>},
    {SYS_timerfd_gettime, "timerfd_gettime", timer<&Timers::on_timerfd_gettime>},
    {SYS_alarm, "alarm", timer<&Timers::on_alarm>},
    {SYS_setitimer, "setitimer", timer<&Timers::on_setitimer>},
    {SYS_getitimer, "getitimer", timer<&Timers::on_getitimer>},
    {SYS_timer_create, "timer_create", timer<&Timers::on_timer_create>},
    {SYS_timer_settime, "timer_settime", timer<&Timers::on_timer_settime>},
    {SYS_timer_gettime, "timer_gettime", timer<&Timers::on_timer_gettime>},
    {SYS_timer_delete, "timer_delete", timer<&Timers::on_timer_delete>},
    {SYS_setrlimit, "setrlimit", timer<&Timers::on_setrlimit>},
    {SYS_prlimit64, "prlimit64", timer<&Timers::on_prlimit>},
    {SYS_kill, "kill", on_kill},
    {SYS_tkill, "tkill", on_kill},
    {SYS_tgkill, "tgkill", on_kill},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo", on_kill},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", on_kill},
    {SYS_pidfd_send_signal, "pidfd_send_signal", on_kill},
    {SYS_pause, "pause", on_pause},
    {SYS_rt_sigsuspend, "rt_sigsuspend", on_rt_sigsuspend},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", on_rt_sigtimedwait},
    {SYS_getrandom, "getrandom", on_getrandom},
    {SYS_uname, "uname", on_uname},
    {SYS_sysinfo, "sysinfo", on_sysinfo},
    {SYS_getcpu, "getcpu", on_getcpu},
    {SYS_sched_getaffinity, "sched_getaffinity", on_sched_getaffinity},
    {SYS_sched_setaffinity, "sched_setaffinity", on_sched_setaffinity},
    {SYS_msgsnd, "msgsnd", on_kernel_queue},
    {SYS_msgrcv, "msgrcv", on_kernel_queue},
    {SYS_semop, "semop", on_kernel_queue},
    {SYS_semtimedop, "semtimedop", on_kernel_queue},
    {SYS_mq_timedsend, "mq_timedsend", on_kernel_queue},
    {SYS_mq_timedreceive, "mq_timedreceive", on_kernel_queue},
    {SYS_wait4, "wait4", on_wait4},
    {SYS_waitid, "waitid", on_waitid},
    {SYS_io_uring_setup, "io_uring_setup", on_missing},
    {SYS_io_setup, "io_setup", on_missing},
    {SYS_perf_event_open, "perf_event_open", on_missing},
    {SYS_userfaultfd, "userfaultfd", on_missing},
    {SYS_futex_waitv, "futex_waitv", on_missing},
    {SYS_ptrace, "ptrace", on_missing},
    {fault::kAskWorld, "a word with the world", on_question},
    {kShareWords, "words to share", on_shared_words},
});

const Known* find_known(long number) {
  const auto* const found = std::find_if(
      kKnown.begin(), kKnown.end(), [number](const Known& each) { return each.number == number; });
  return found == kKnown.end() ? nullptr : found;
}

constexpr auto kUntouched = std::to_array<int>({
    // The most frequent ones come first: each call is compared with all before its own.
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_brk,
    SYS_close,
    SYS_openat,
    SYS_open,
    SYS_fstat,
    SYS_newfstatat,
    SYS_stat,
    SYS_lstat,
    SYS_pread64,
    SYS_pwrite64,
    SYS_lseek,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_gettid,
    SYS_getpid,
    SYS_madvise,
    SYS_mremap,
    SYS_eventfd2,
    SYS_eventfd,
    SYS_epoll_ctl,
    SYS_epoll_create1,
    SYS_epoll_create,
    SYS_dup,
    SYS_dup2,
    SYS_dup3,
    SYS_pipe,
    SYS_pipe2,
    SYS_socketpair,

    SYS_shutdown,
    SYS_exit_group,
    SYS_execve,
    SYS_execveat,
    SYS_clone,
    SYS_clone3,
    SYS_fork,
    SYS_vfork,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_set_tid_address,
    SYS_rseq,
    SYS_arch_prctl,
    SYS_prctl,
    SYS_getrlimit,
    SYS_access,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_readlink,
    SYS_readlinkat,
    SYS_getcwd,
    SYS_chdir,
    SYS_fchdir,
    SYS_mkdir,
    SYS_mkdirat,
    SYS_rmdir,
    SYS_unlink,
    SYS_unlinkat,
    SYS_rename,
    SYS_renameat,
    SYS_renameat2,
    SYS_link,
    SYS_linkat,
    SYS_symlink,
    SYS_symlinkat,
    SYS_chmod,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_chown,
    SYS_fchown,
    SYS_lchown,
    SYS_fchownat,
    SYS_umask,
    SYS_mknod,
    SYS_mknodat,
    SYS_getdents,
    SYS_getdents64,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_truncate,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fsync,
    SYS_fdatasync,
    SYS_sync,
    SYS_syncfs,
    SYS_sync_file_range,
    SYS_msync,
    SYS_mincore,
    SYS_mlock,
    SYS_mlock2,
    SYS_munlock,
    SYS_mlockall,
    SYS_munlockall,
    SYS_memfd_create,
    SYS_preadv,
    SYS_pwritev,
    SYS_preadv2,
    SYS_pwritev2,
    SYS_sendfile,
    SYS_copy_file_range,
    SYS_splice,
    SYS_tee,
    SYS_vmsplice,
    SYS_creat,
    SYS_utime,
    SYS_utimes,
    SYS_utimensat,
    SYS_futimesat,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getppid,
    SYS_getpgid,
    SYS_getpgrp,
    SYS_setpgid,
    SYS_getsid,
    SYS_setsid,
    SYS_getgroups,
    SYS_setgroups,
    SYS_getresuid,
    SYS_getresgid,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_capget,
    SYS_capset,
    SYS_sigaltstack,
    SYS_rt_sigpending,
    SYS_sched_getparam,
    SYS_sched_setparam,
    SYS_sched_getscheduler,
    SYS_sched_setscheduler,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_getpriority,
    SYS_setpriority,
    SYS_shmget,
    SYS_shmat,
    SYS_shmdt,
    SYS_shmctl,
    SYS_semget,
    SYS_semctl,
    SYS_msgget,
    SYS_msgctl,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_mq_notify,
    SYS_mq_getsetattr,
    SYS_getxattr,
    SYS_lgetxattr,
    SYS_fgetxattr,
    SYS_setxattr,
    SYS_listxattr,
    SYS_inotify_init,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_inotify_rm_watch,
    SYS_signalfd,
    SYS_signalfd4,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_membarrier,
    SYS_close_range,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_mbind,
    SYS_unshare,
    SYS_setns,
    SYS_fadvise64,
    SYS_readahead,
    SYS_personality,
    SYS_timer_getoverrun,
    SYS_seccomp,
    SYS_pkey_alloc,
    SYS_pkey_free,
    SYS_pkey_mprotect,
    SYS_ioprio_get,
    SYS_ioprio_set,
    SYS_sethostname,
    SYS_openat2,
});

}  // namespace

bool makes_code(long number) {
  return number == SYS_mmap || number == SYS_mprotect || number == SYS_pkey_mprotect;
}

std::span<const int> untouched_calls() {
  return kUntouched;
}

Outcome make_call(Thread& thread, const Call& call) {
  if (const Known* const known = find_known(call.number)) return known->handler(thread, call);
  thread.sandbox().spoil_realms();
  thread.sandbox().remark(thread.process().name + " makes " + name_of_call(call.number) +
                          ", which nobody here knows: it is passed on, and the run may not repeat");
  return Outcome::made();
}

std::string name_of_call(long number) {
  if (const char* const name = name_of_opening(number)) return name;
  const Known* const known = find_known(number);
  return known == nullptr ? "system call " + std::to_string(number) : known->name;
}

}  // namespace anyrdma::sim::programs
