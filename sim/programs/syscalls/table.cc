#include "sim/programs/syscalls/system_calls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "sim/points/clock_page.h"
#include "sim/points/entry_queue.h"
#include "sim/points/mark_call.h"
#include "sim/programs/io/answered_reading.h"
#include "sim/programs/io/chance.h"
#include "sim/programs/io/descriptors.h"
#include "sim/programs/io/directories.h"
#include "sim/programs/io/signal_descriptors.h"
#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/limits.h"
#include "sim/programs/kernel/machine_facts.h"
#include "sim/programs/kernel/memory_changes.h"
#include "sim/programs/kernel/object_times.h"
#include "sim/programs/kernel/priorities.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/kernel/terminals.h"
#include "sim/programs/net/sockets.h"
#include "sim/programs/process/supervisor.h"
#include "sim/programs/syscalls/device_findings.h"
#include "sim/programs/syscalls/guard_points.h"
#include "sim/programs/syscalls/handlers.h"
#include "sim/programs/syscalls/kernel_queues.h"
#include "sim/programs/syscalls/marks.h"
#include "sim/programs/syscalls/moved_data.h"
#include "sim/programs/syscalls/new_code.h"
#include "sim/programs/syscalls/new_program.h"
#include "sim/programs/syscalls/row.h"
#include "sim/programs/syscalls/stat_calls.h"
#include "sim/programs/syscalls/surroundings.h"
#include "transport/fault/plan/finding_call.h"
#include "transport/fault/plan/memory_question.h"
#include "transport/fault/plan/question.h"
#include "transport/realtime/point_call.h"

namespace anyrdma::sim::programs {
namespace {

// --- what docs/support.md says ------------------------------------------------------------------

constexpr const char* kWaitsForInput = "waits in virtual time until there is something to read";
constexpr const char* kWaitsForRoom = "waits in virtual time until there is room";
constexpr const char* kMoves = "waits in virtual time until there are data and room";
constexpr const char* kWaitsForAny = "waits in virtual time";
constexpr const char* kWaitsForLock = "waits for the lock in virtual time";
constexpr const char* kWaitsInKernel =
    "the kernel's queues and semaphores; waits and timeouts are in virtual time";
constexpr const char* kWaitNoticed =
    "the kernel's own; waits in virtual time for the other end of a named pipe";
constexpr const char* kHostSockets =
    "IPv4 and IPv6 between simulated hosts; other families are the kernel's own";
constexpr const char* kVirtualTime = "virtual time";
constexpr const char* kTimers = "timers in virtual time; timers of processor time never expire";
constexpr const char* kSignals =
    "a signal waits in the simulator until the receiver runs; then the kernel delivers it";
constexpr const char* kSignalState = "the kernel's own state of signals";
constexpr const char* kSignalDescriptors =
    "readable in read, poll, select and epoll when a signal comes";
constexpr const char* kProcess = "the kernel's own processes and threads";
constexpr const char* kPrograms =
    "the libraries of anyrdma precede those of LD_PRELOAD and LD_LIBRARY_PATH";
constexpr const char* kUsers = "the kernel's own users and rights";
constexpr const char* kMachine = "the simulated host's processors, memory and name";
constexpr const char* kScheduling = "kept by the kernel, without effect on the order of threads";
constexpr const char* kNice =
    "kept by the kernel, without effect on the order of threads; that of the command counts as 0";
constexpr const char* kLimits =
    "the kernel's own; those of processes and signals begin with 32768, and one of processor time "
    "never expires";
constexpr const char* kNewCode = "new code is searched for rdrand and rdseed";
constexpr const char* kMemory = "the kernel's own memory";
constexpr const char* kQueues = "System V and POSIX objects of the host's own";
constexpr const char* kObjects = "System V objects of the host's own; their times are virtual";
constexpr const char* kPagesOfRegions =
    "the kernel's own memory; pages of registered regions are watched";
constexpr const char* kHugeMemory = "the kernel's own memory; huge pages are ordinary memory";
constexpr const char* kSharedMemory =
    "System V objects of the host's own; huge pages are ordinary memory";
constexpr const char* kFiles = "the machine's own files";
constexpr const char* kSameNumbers =
    "the machine's own files; numbers of sockets, pipes and namespaces are the same in each run";
constexpr const char* kSameStates =
    "the machine's own files; times and numbers that a run changes are the same in each run";
constexpr const char* kSorted = "the machine's own files, in the order of their names";
constexpr const char* kSpace = "the size and free space of disks are the same on each machine";
constexpr const char* kWaiters = "the kernel's own descriptors";
constexpr const char* kNamespaces = "the kernel's own namespaces";
constexpr const char* kMounts =
    "within the namespaces of the host, which are not used for another run";
constexpr const char* kGone = "not in today's kernels";
constexpr const char* kProbes = "the kernel makes it without asking a seccomp filter";
constexpr const char* kFallBack = "programs fall back to older calls";
constexpr const char* kOfMachine = "the answer would depend on the machine";
constexpr const char* kNotAllowed = "would change or show the machine's own state";

// --- rows ---------------------------------------------------------------------------------------

template <Outcome (Timers::*member)(Thread&, const Call&)>
Outcome timer(Thread& thread, const Call& call) {
  return (thread.supervisor().kernel().timers.*member)(thread, call);
}

template <Outcome (HugePages::*member)(Thread&, const Call&)>
Outcome huge(Thread& thread, const Call& call) {
  return (thread.supervisor().kernel().huge_pages.*member)(thread, call);
}

template <auto member>
Outcome affinity(Thread& thread, const Call& call) {
  return (thread.supervisor().kernel().affinities.*member)(thread, call);
}

template <Outcome (Sockets::*member)(Thread&, const Call&)>
Outcome socket(Thread& thread, const Call& call) {
  return (thread.supervisor().sockets().*member)(thread, call);
}

Outcome on_ioctl(Thread& thread, const Call& call) {
  const auto request = call.arguments[1];
  const bool of_interfaces =
      request == SIOCGIFADDR || request == SIOCGIFNETMASK || request == SIOCGIFBRDADDR;
  return of_interfaces ? thread.supervisor().sockets().on_ioctl(thread, call)
                       : on_terminal_control(thread, call);
}

constexpr auto kRows = std::to_array<SystemCall>({
    stopped(0, "read", socket<&Sockets::on_read>, kWaitsForInput),
    stopped(1, "write", socket<&Sockets::on_write>, kWaitsForRoom).but(kPrompt),
    passed(2, "open", kWaitNoticed),
    passed(3, "close", kFiles),
    stopped(4, "stat", on_stat, kSameStates),
    stopped(5, "fstat", on_stat, kSameStates),
    stopped(6, "lstat", on_stat, kSameStates),
    stopped(7, "poll", on_poll, kWaitsForAny),
    passed(8, "lseek", kFiles),
    passed(9, "mmap", "new code is searched for rdrand and rdseed; huge pages are ordinary memory")
        .but(kOfMmap, on_mmap),
    passed(10, "mprotect", kNewCode).but(kOfProtection, on_mprotect),
    watched(11, "munmap", on_munmap, kPagesOfRegions),
    watched(12, "brk", on_brk, kPagesOfRegions),
    passed(13, "rt_sigaction", kSignalState),
    passed(14, "rt_sigprocmask", kSignalState),
    passed(15, "rt_sigreturn", kSignalState),
    passed(16, "ioctl",
           "the host's addresses of interfaces; those of `TC*` and `TIOC*` that may send signals")
        .but(kOfIoctl, on_ioctl),
    passed(17, "pread64", "the machine's own files, except those of which read tells the same")
        .but(kOfPread, on_pread),
    passed(18, "pwrite64", kFiles),
    stopped(19, "readv", socket<&Sockets::on_readv>, kWaitsForInput),
    stopped(20, "writev", socket<&Sockets::on_writev>, kWaitsForRoom),
    passed(21, "access", kFiles),
    passed(22, "pipe", kWaiters),
    stopped(23, "select", on_select, kWaitsForAny),
    stopped(24, "sched_yield", on_sched_yield, "gives other threads a turn"),
    watched(25, "mremap", on_mremap, kPagesOfRegions),
    passed(26, "msync", kMemory),
    stopped(27, "mincore", on_mincore, "each page counts as one that is in memory"),
    watched(28, "madvise", on_madvise, kPagesOfRegions),
    stopped(29, "shmget", huge<&HugePages::on_shmget>, kSharedMemory),
    stopped(30, "shmat", on_shmat, kSharedMemory),
    passed(31, "shmctl", kObjects).but(kOfShmctl, on_shmctl),
    passed(32, "dup", kFiles),
    passed(33, "dup2", kFiles),
    stopped(34, "pause", on_pause, kSignals),
    stopped(35, "nanosleep", on_nanosleep, kVirtualTime),
    stopped(36, "getitimer", timer<&Timers::on_getitimer>, kTimers),
    stopped(37, "alarm", timer<&Timers::on_alarm>, kTimers),
    stopped(38, "setitimer", timer<&Timers::on_setitimer>, kTimers),
    passed(39, "getpid", kProcess),
    stopped(40, "sendfile", on_sendfile, kMoves),
    stopped(41, "socket", socket<&Sockets::on_socket>, kHostSockets),
    stopped(42, "connect", socket<&Sockets::on_connect>, kHostSockets),
    stopped(43, "accept", socket<&Sockets::on_accept>, kWaitsForInput),
    stopped(44, "sendto", socket<&Sockets::on_sendto>, kWaitsForRoom).but(kPrompt),
    stopped(45, "recvfrom", socket<&Sockets::on_recvfrom>, kWaitsForInput),
    stopped(46, "sendmsg", socket<&Sockets::on_sendmsg>, kWaitsForRoom).but(kPrompt),
    stopped(47, "recvmsg", socket<&Sockets::on_recvmsg>, kWaitsForInput).but(kPrompt),
    passed(48, "shutdown", kWaiters),
    stopped(49, "bind", socket<&Sockets::on_bind>, kHostSockets),
    stopped(50, "listen", socket<&Sockets::on_listen>, kHostSockets),
    stopped(51, "getsockname", socket<&Sockets::on_getsockname>, kHostSockets),
    stopped(52, "getpeername", socket<&Sockets::on_getpeername>, kHostSockets),
    passed(53, "socketpair", kWaiters),
    stopped(54, "setsockopt", socket<&Sockets::on_setsockopt>, kHostSockets),
    stopped(55, "getsockopt", socket<&Sockets::on_getsockopt>, kHostSockets),
    passed(56, "clone", kProcess),
    passed(57, "fork", kProcess),
    passed(58, "vfork", kProcess),
    stopped(59, "execve", on_execve, kPrograms),
    stopped(60, "exit", on_exit, "ends one thread"),
    stopped(61, "wait4", on_wait4, "waits for children in virtual time"),
    stopped(62, "kill", on_kill, kSignals),
    stopped(63, "uname", on_uname, kMachine),
    stopped(64, "semget", on_new_object, kQueues),
    stopped(65, "semop", on_kernel_queue, kWaitsInKernel),
    passed(66, "semctl", kObjects).but(kOfSemctl, on_semctl),
    stopped(67, "shmdt", on_shmdt, kQueues),
    stopped(68, "msgget", on_new_object, kQueues),
    stopped(69, "msgsnd", on_kernel_queue, kWaitsInKernel),
    stopped(70, "msgrcv", on_kernel_queue, kWaitsInKernel),
    passed(71, "msgctl", kObjects).but(kOfMsgctl, on_msgctl),
    passed(72, "fcntl",
           "waits for a lock in virtual time with F_SETLKW and F_OFD_SETLKW; else the kernel's own")
        .but(kOfFcntl, on_lock),
    stopped(73, "flock", on_flock, kWaitsForLock),
    passed(74, "fsync", kFiles),
    passed(75, "fdatasync", kFiles),
    passed(76, "truncate", kFiles),
    passed(77, "ftruncate", kFiles),
    stopped(78, "getdents", on_getdents, kSorted),
    passed(79, "getcwd", kFiles),
    passed(80, "chdir", kFiles),
    passed(81, "fchdir", kFiles),
    passed(82, "rename", kFiles),
    passed(83, "mkdir", kFiles),
    passed(84, "rmdir", kFiles),
    passed(85, "creat", kWaitNoticed),
    passed(86, "link", kFiles),
    passed(87, "unlink", kFiles),
    passed(88, "symlink", kFiles),
    stopped(89, "readlink", on_readlink, kSameNumbers),
    passed(90, "chmod", kFiles),
    passed(91, "fchmod", kFiles),
    passed(92, "chown", kFiles),
    passed(93, "fchown", kFiles),
    passed(94, "lchown", kFiles),
    passed(95, "umask", kUsers),
    stopped(96, "gettimeofday", on_gettimeofday, kVirtualTime),
    passed(97, "getrlimit", kLimits).but(kOfGetrlimit, on_getrlimit),
    stopped(98, "getrusage", on_getrusage, kVirtualTime),
    stopped(99, "sysinfo", on_sysinfo, kMachine),
    stopped(100, "times", on_times, kVirtualTime),
    refused(101, "ptrace", ENOSYS,
            "programs are traced here already: gdb, strace and LeakSanitizer do not work"),
    passed(102, "getuid", kUsers),
    refused(103, "syslog", EPERM, kNotAllowed),
    passed(104, "getgid", kUsers),
    passed(105, "setuid", kUsers),
    passed(106, "setgid", kUsers),
    passed(107, "geteuid", kUsers),
    passed(108, "getegid", kUsers),
    passed(109, "setpgid", kProcess),
    passed(110, "getppid", kProcess),
    passed(111, "getpgrp", kProcess),
    passed(112, "setsid", kProcess),
    passed(113, "setreuid", kUsers),
    passed(114, "setregid", kUsers),
    passed(115, "getgroups", kUsers),
    passed(116, "setgroups", kUsers),
    passed(117, "setresuid", kUsers),
    passed(118, "getresuid", kUsers),
    passed(119, "setresgid", kUsers),
    passed(120, "getresgid", kUsers),
    passed(121, "getpgid", kProcess),
    passed(122, "setfsuid", kUsers),
    passed(123, "setfsgid", kUsers),
    passed(124, "getsid", kProcess),
    passed(125, "capget", kUsers),
    passed(126, "capset", kUsers),
    passed(127, "rt_sigpending", kSignalState),
    stopped(128, "rt_sigtimedwait", on_rt_sigtimedwait, kSignals),
    stopped(129, "rt_sigqueueinfo", on_kill, kSignals),
    stopped(130, "rt_sigsuspend", on_rt_sigsuspend, kSignals),
    passed(131, "sigaltstack", kSignalState),
    passed(132, "utime", kFiles),
    passed(133, "mknod", kFiles),
    refused(134, "uselib", ENOSYS, kGone),
    passed(135, "personality", kProcess),
    refused(136, "ustat", ENOSYS, kGone),
    stopped(137, "statfs", on_statfs, kSpace),
    stopped(138, "fstatfs", on_statfs, kSpace),
    refused(139, "sysfs", ENOSYS, kGone),
    stopped(140, "getpriority", on_getpriority, kNice),
    stopped(141, "setpriority", on_setpriority, kNice),
    passed(142, "sched_setparam", kScheduling),
    passed(143, "sched_getparam", kScheduling),
    passed(144, "sched_setscheduler", kScheduling),
    passed(145, "sched_getscheduler", kScheduling),
    passed(146, "sched_get_priority_max", kScheduling),
    passed(147, "sched_get_priority_min", kScheduling),
    refused(148, "sched_rr_get_interval", ENOSYS, kOfMachine),
    passed(149, "mlock", kMemory),
    passed(150, "munlock", kMemory),
    passed(151, "mlockall", kMemory),
    passed(152, "munlockall", kMemory),
    refused(153, "vhangup", EPERM, kNotAllowed),
    passed(154, "modify_ldt", kMemory),
    stopped(155, "pivot_root", on_mount, kMounts),
    refused(156, "_sysctl", ENOSYS, kGone),
    passed(157, "prctl", kProcess),
    passed(158, "arch_prctl", kProcess),
    refused(159, "adjtimex", EPERM, kNotAllowed),
    passed(160, "setrlimit", kLimits).but(kOfSetrlimit, on_setrlimit),
    stopped(161, "chroot", on_mount, kMounts),
    passed(162, "sync", kFiles),
    refused(163, "acct", EPERM, kNotAllowed),
    refused(164, "settimeofday", EPERM, kNotAllowed),
    stopped(165, "mount", on_mount, kMounts),
    stopped(166, "umount2", on_mount, kMounts),
    refused(167, "swapon", EPERM, kNotAllowed),
    refused(168, "swapoff", EPERM, kNotAllowed),
    refused(169, "reboot", EPERM, kNotAllowed),
    refused(170, "sethostname", EPERM, kNotAllowed),
    refused(171, "setdomainname", EPERM, kNotAllowed),
    refused(172, "iopl", EPERM, kNotAllowed),
    refused(173, "ioperm", EPERM, kNotAllowed),
    refused(174, "create_module", ENOSYS, kGone),
    refused(175, "init_module", EPERM, kNotAllowed),
    refused(176, "delete_module", EPERM, kNotAllowed),
    refused(177, "get_kernel_syms", ENOSYS, kGone),
    refused(178, "query_module", ENOSYS, kGone),
    refused(179, "quotactl", ENOSYS, kOfMachine),
    refused(180, "nfsservctl", ENOSYS, kGone),
    refused(181, "getpmsg", ENOSYS, kGone),
    refused(182, "putpmsg", ENOSYS, kGone),
    refused(183, "afs_syscall", ENOSYS, kGone),
    refused(184, "tuxcall", ENOSYS, kGone),
    refused(185, "security", ENOSYS, kGone),
    passed(186, "gettid", kProcess),
    passed(187, "readahead", kFiles),
    passed(188, "setxattr", kFiles),
    passed(189, "lsetxattr", kFiles),
    passed(190, "fsetxattr", kFiles),
    passed(191, "getxattr", kFiles),
    passed(192, "lgetxattr", kFiles),
    passed(193, "fgetxattr", kFiles),
    passed(194, "listxattr", kFiles),
    passed(195, "llistxattr", kFiles),
    passed(196, "flistxattr", kFiles),
    passed(197, "removexattr", kFiles),
    passed(198, "lremovexattr", kFiles),
    passed(199, "fremovexattr", kFiles),
    stopped(200, "tkill", on_kill, kSignals),
    stopped(201, "time", on_time, kVirtualTime),
    stopped(202, "futex", on_futex, "waits in virtual time, in FIFO order"),
    stopped(203, "sched_setaffinity", affinity<&Affinities::on_sched_setaffinity>, kMachine),
    stopped(204, "sched_getaffinity", affinity<&Affinities::on_sched_getaffinity>, kMachine),
    refused(205, "set_thread_area", ENOSYS, kGone),
    refused(206, "io_setup", ENOSYS, kFallBack),
    refused(207, "io_destroy", ENOSYS, kFallBack),
    refused(208, "io_getevents", ENOSYS, kFallBack),
    refused(209, "io_submit", ENOSYS, kFallBack),
    refused(210, "io_cancel", ENOSYS, kFallBack),
    refused(211, "get_thread_area", ENOSYS, kGone),
    refused(212, "lookup_dcookie", ENOSYS, kGone),
    passed(213, "epoll_create", kWaiters),
    refused(214, "epoll_ctl_old", ENOSYS, kGone),
    refused(215, "epoll_wait_old", ENOSYS, kGone),
    passed(216, "remap_file_pages", kMemory),
    stopped(217, "getdents64", on_getdents, kSorted),
    passed(218, "set_tid_address", kProcess),
    stopped(219, "restart_syscall", on_restart, "an interrupted wait ends with EINTR"),
    stopped(220, "semtimedop", on_kernel_queue, kWaitsInKernel),
    passed(221, "fadvise64", kFiles),
    stopped(222, "timer_create", timer<&Timers::on_timer_create>, kTimers),
    stopped(223, "timer_settime", timer<&Timers::on_timer_settime>, kTimers),
    stopped(224, "timer_gettime", timer<&Timers::on_timer_gettime>, kTimers),
    stopped(225, "timer_getoverrun", timer<&Timers::on_timer_getoverrun>, kTimers),
    stopped(226, "timer_delete", timer<&Timers::on_timer_delete>, kTimers),
    refused(227, "clock_settime", EPERM, kNotAllowed),
    stopped(228, "clock_gettime", on_clock_gettime, kVirtualTime),
    stopped(229, "clock_getres", on_clock_getres, kVirtualTime),
    stopped(230, "clock_nanosleep", on_clock_nanosleep, kVirtualTime),
    passed(231, "exit_group", kProcess),
    stopped(232, "epoll_wait", on_epoll_wait, kWaitsForAny).but(kPrompt),
    passed(233, "epoll_ctl", kWaiters),
    stopped(234, "tgkill", on_kill, kSignals),
    passed(235, "utimes", kFiles),
    refused(236, "vserver", ENOSYS, kGone),
    passed(237, "mbind", kMemory),
    passed(238, "set_mempolicy", kMemory),
    passed(239, "get_mempolicy", kMemory),
    stopped(240, "mq_open", on_new_object, kQueues),
    passed(241, "mq_unlink", kQueues),
    stopped(242, "mq_timedsend", on_kernel_queue, kWaitsInKernel),
    stopped(243, "mq_timedreceive", on_kernel_queue, kWaitsInKernel),
    passed(244, "mq_notify", kQueues),
    passed(245, "mq_getsetattr", kQueues),
    refused(246, "kexec_load", EPERM, kNotAllowed),
    stopped(247, "waitid", on_waitid, "waits for children in virtual time"),
    refused(248, "add_key", ENOSYS, kOfMachine),
    refused(249, "request_key", ENOSYS, kOfMachine),
    refused(250, "keyctl", ENOSYS, kOfMachine),
    passed(251, "ioprio_set", kScheduling),
    passed(252, "ioprio_get", kScheduling),
    passed(253, "inotify_init", kWaiters),
    passed(254, "inotify_add_watch", kWaiters),
    passed(255, "inotify_rm_watch", kWaiters),
    refused(256, "migrate_pages", ENOSYS, kOfMachine),
    passed(257, "openat", kWaitNoticed),
    passed(258, "mkdirat", kFiles),
    passed(259, "mknodat", kFiles),
    passed(260, "fchownat", kFiles),
    passed(261, "futimesat", kFiles),
    stopped(262, "newfstatat", on_stat, kSameStates),
    passed(263, "unlinkat", kFiles),
    passed(264, "renameat", kFiles),
    passed(265, "linkat", kFiles),
    passed(266, "symlinkat", kFiles),
    stopped(267, "readlinkat", on_readlink, kSameNumbers),
    passed(268, "fchmodat", kFiles),
    passed(269, "faccessat", kFiles),
    stopped(270, "pselect6", on_pselect, kWaitsForAny),
    stopped(271, "ppoll", on_ppoll, kWaitsForAny),
    passed(272, "unshare", kNamespaces),
    passed(273, "set_robust_list", kProcess),
    passed(274, "get_robust_list", kProcess),
    stopped(275, "splice", on_splice, kMoves),
    stopped(276, "tee", on_tee, kMoves),
    passed(277, "sync_file_range", kFiles),
    stopped(278, "vmsplice", on_vmsplice, kMoves),
    refused(279, "move_pages", ENOSYS, kOfMachine),
    passed(280, "utimensat", kFiles),
    stopped(281, "epoll_pwait", on_epoll_wait, kWaitsForAny),
    stopped(282, "signalfd", on_signalfd, kSignalDescriptors),
    stopped(283, "timerfd_create", timer<&Timers::on_timerfd_create>, kTimers),
    passed(284, "eventfd", kWaiters),
    passed(285, "fallocate", kFiles),
    stopped(286, "timerfd_settime", timer<&Timers::on_timerfd_settime>, kTimers),
    stopped(287, "timerfd_gettime", timer<&Timers::on_timerfd_gettime>, kTimers),
    stopped(288, "accept4", socket<&Sockets::on_accept>, kWaitsForInput),
    stopped(289, "signalfd4", on_signalfd, kSignalDescriptors),
    passed(290, "eventfd2", kWaiters),
    passed(291, "epoll_create1", kWaiters),
    passed(292, "dup3", kFiles),
    passed(293, "pipe2", kWaiters),
    passed(294, "inotify_init1", kWaiters),
    passed(295, "preadv", "the machine's own files, except those of which read tells the same")
        .but(kOfPread, on_pread),
    passed(296, "pwritev", kFiles),
    stopped(297, "rt_tgsigqueueinfo", on_kill, kSignals),
    refused(298, "perf_event_open", ENOSYS, kFallBack),
    stopped(299, "recvmmsg", socket<&Sockets::on_recvmmsg>, kWaitsForInput).but(kPrompt),
    refused(300, "fanotify_init", ENOSYS, kOfMachine),
    refused(301, "fanotify_mark", ENOSYS, kOfMachine),
    passed(302, "prlimit64", kLimits).but(kOfPrlimit, on_prlimit),
    refused(303, "name_to_handle_at", ENOSYS, kOfMachine),
    refused(304, "open_by_handle_at", ENOSYS, kOfMachine),
    refused(305, "clock_adjtime", EPERM, kNotAllowed),
    passed(306, "syncfs", kFiles),
    stopped(307, "sendmmsg", socket<&Sockets::on_sendmmsg>, kWaitsForRoom).but(kPrompt),
    passed(308, "setns", kNamespaces),
    stopped(309, "getcpu", on_getcpu, kMachine),
    passed(310, "process_vm_readv", kProcess),
    passed(311, "process_vm_writev", kProcess),
    refused(312, "kcmp", ENOSYS, kOfMachine),
    refused(313, "finit_module", EPERM, kNotAllowed),
    stopped(314, "sched_setattr", on_sched_setattr, kNice),
    stopped(315, "sched_getattr", on_sched_getattr, kNice),
    passed(316, "renameat2", kFiles),
    passed(317, "seccomp", kProcess),
    stopped(318, "getrandom", on_getrandom, "random numbers come from the seed"),
    passed(319, "memfd_create", kHugeMemory).but(kOfMemfd, huge<&HugePages::on_memfd_create>),
    refused(320, "kexec_file_load", EPERM, kNotAllowed),
    refused(321, "bpf", ENOSYS, kOfMachine),
    stopped(322, "execveat", on_execve, kPrograms),
    refused(323, "userfaultfd", ENOSYS, kFallBack),
    passed(324, "membarrier", "the kernel's own; MEMBARRIER_CMD_QUERY names those of Linux 6.1")
        .but(kOfMembarrier, on_membarrier),
    passed(325, "mlock2", kMemory),
    passed(326, "copy_file_range", kFiles),
    stopped(327, "preadv2", on_preadv2, kWaitsForInput),
    stopped(328, "pwritev2", on_pwritev2, kWaitsForRoom),
    passed(329, "pkey_mprotect", kNewCode).but(kOfProtection, on_mprotect),
    passed(330, "pkey_alloc", kMemory),
    passed(331, "pkey_free", kMemory),
    stopped(332, "statx", on_statx, kSameStates),
    refused(333, "io_pgetevents", ENOSYS, kFallBack),
    refused(334, "rseq", ENOSYS, "programs ask getcpu instead"),
    passed(335, "uretprobe", kProbes),
    passed(336, "uprobe", kProbes),
    stopped(424, "pidfd_send_signal", on_kill, kSignals),
    refused(425, "io_uring_setup", ENOSYS, kFallBack),
    refused(426, "io_uring_enter", ENOSYS, kFallBack),
    refused(427, "io_uring_register", ENOSYS, kFallBack),
    stopped(428, "open_tree", on_mount, kMounts),
    stopped(429, "move_mount", on_mount, kMounts),
    stopped(430, "fsopen", on_mount, kMounts),
    stopped(431, "fsconfig", on_mount, kMounts),
    stopped(432, "fsmount", on_mount, kMounts),
    stopped(433, "fspick", on_mount, kMounts),
    passed(434, "pidfd_open", kProcess),
    passed(435, "clone3", kProcess),
    passed(436, "close_range", kFiles),
    passed(437, "openat2", kWaitNoticed),
    passed(438, "pidfd_getfd", kProcess),
    passed(439, "faccessat2", kFiles),
    passed(440, "process_madvise", kProcess),
    stopped(441, "epoll_pwait2", on_epoll_pwait2, kWaitsForAny),
    stopped(442, "mount_setattr", on_mount, kMounts),
    refused(443, "quotactl_fd", ENOSYS, kOfMachine),
    refused(444, "landlock_create_ruleset", ENOSYS, kOfMachine),
    refused(445, "landlock_add_rule", ENOSYS, kOfMachine),
    refused(446, "landlock_restrict_self", ENOSYS, kOfMachine),
    refused(447, "memfd_secret", ENOSYS, kFallBack),
    refused(448, "process_mrelease", ENOSYS, kFallBack),
    stopped(449, "futex_waitv", on_futex_waitv, "waits in virtual time, in FIFO order"),
    passed(450, "set_mempolicy_home_node", kMemory),
    refused(451, "cachestat", ENOSYS, kOfMachine),
    passed(452, "fchmodat2", kFiles),
    refused(453, "map_shadow_stack", ENOSYS, kFallBack),
    refused(454, "futex_wake", ENOSYS, kFallBack),
    refused(455, "futex_wait", ENOSYS, kFallBack),
    refused(456, "futex_requeue", ENOSYS, kFallBack),
    refused(457, "statmount", ENOSYS, kOfMachine),
    refused(458, "listmount", ENOSYS, kOfMachine),
    refused(459, "lsm_get_self_attr", ENOSYS, kOfMachine),
    refused(460, "lsm_set_self_attr", ENOSYS, kOfMachine),
    refused(461, "lsm_list_modules", ENOSYS, kOfMachine),
    passed(462, "mseal", kMemory),
    passed(463, "setxattrat", kFiles),
    passed(464, "getxattrat", kFiles),
    passed(465, "listxattrat", kFiles),
    passed(466, "removexattrat", kFiles),
    stopped(467, "open_tree_attr", on_mount, kMounts),
    passed(468, "file_getattr", kFiles),
    passed(469, "file_setattr", kFiles),
    refused(470, "listns", ENOSYS, kOfMachine),
    own(transport::realtime::kPointCall, "a scheduling point", on_point),
    own(fault::kAskWorld, "a question to the world", on_question),
    own(kClockCall, "a clock to share", on_clock_page),
    own(kShareEntries, "entries to share", on_shared_entries),
    own(fault::kMemoryCall, "a choice of memory", on_memory),
    own(kMarkCall, "a mark", on_mark),
    own(kGuardCall, "an instrumented block", on_guard),
    own(transport::realtime::kPollCall, "an empty poll", on_poll_in_vain),
    own(kTakeEntries, "entries to take", on_take_entries),
    own(fault::kReportFinding, "a finding of its device", on_device_finding),
    own(fault::kWatchMemory, "a region to watch", on_watched_region),
});

// --- by number ----------------------------------------------------------------------------------

static_assert(std::ranges::is_sorted(kRows, std::ranges::less_equal{}, &SystemCall::number) &&
                  std::ranges::adjacent_find(kRows, {}, &SystemCall::number) == kRows.end(),
              "each number has one row, in order");

constexpr std::size_t kNumbers = 512;  ///< of the kernel's calls, with room for new ones
constexpr long kFirstOwn = transport::realtime::kPointCall;

constexpr auto kFirstOwnRow = static_cast<std::size_t>(
    std::ranges::find(kRows, kFirstOwn, &SystemCall::number) - kRows.begin());
static_assert(kRows.back().number - kFirstOwn == kRows.size() - kFirstOwnRow - 1,
              "anyrdma's own numbers have no gap");

/// The index of each number's row, or the number of rows.
constexpr auto kIndex = [] {
  std::array<std::uint16_t, kNumbers> index{};
  index.fill(kRows.size());
  for (std::size_t i = 0; i < kFirstOwnRow; ++i)
    index[static_cast<std::size_t>(kRows[i].number)] = static_cast<std::uint16_t>(i);
  return index;
}();

}  // namespace

std::span<const SystemCall> system_calls() {
  return kRows;
}

const SystemCall* find_system_call(long number) {
  if (number < 0) return nullptr;
  auto row = static_cast<std::size_t>(number - kFirstOwn) + kFirstOwnRow;
  if (number < kFirstOwn)
    row = number < static_cast<long>(kNumbers) ? kIndex[static_cast<std::size_t>(number)]
                                               : kRows.size();
  return row < kRows.size() ? &kRows[row] : nullptr;
}

const std::vector<tracee::CallRule>& call_rules(bool facts_too) {
  const auto rules = [](bool all_stop) {
    std::vector<tracee::CallRule> all;
    for (const SystemCall& each : kRows) {
      if (all_stop && asks_for_fact(each.number))
        all.push_back({each.number, kStops});
      else
        all.push_back({each.number, each.answer, each.arguments});
    }
    return all;
  };
  static const auto kUsual = rules(false);
  static const auto kAll = rules(true);
  return facts_too ? kAll : kUsual;
}

std::string name_of_call(long number) {
  const SystemCall* const known = find_system_call(number);
  return known == nullptr ? "system call " + std::to_string(number) : known->name;
}

}  // namespace anyrdma::sim::programs
