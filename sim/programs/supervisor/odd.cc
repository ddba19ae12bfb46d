// A program for tests, which does what a simulator of programs has to live with: see kDeeds.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>

#include "sim/points/clock_page.h"
#include "sim/points/entry_queue.h"

namespace {

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// In memory: its registers are the same each time around.
void count_in_memory() {
  std::uint32_t count = 0;
  asm volatile("1: incl %0\n cmpl $400000000, %0\n jb 1b" : "+m"(count) : : "cc");
}

/// In a register that is none of the general ones.
void count_in_a_wide_register() {
  double count = 0;
  const double one = 1;
  const double all = 2e8;
  asm volatile("1: addsd %1, %0\n ucomisd %2, %0\n jb 1b"
               : "+x"(count)
               : "x"(one), "x"(all)
               : "cc");
}

template <void (*count)()>
int tell_time_of() {
  const std::int64_t begin = now();
  count();
  std::printf("took %lld ns\n", static_cast<long long>(now() - begin));
  return 0;
}

/// As daemons do, with the descriptors of others among them.
int close_all() {
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);
  return std::puts("closed") < 0 ? 1 : 0;
}

int handle_signals() {
  for (const int signal : {SIGSYS, SIGSEGV, SIGTRAP}) {
    std::signal(signal, [](int number) { ::_exit(10 + number); });
  }
  const std::int64_t begin = now();
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  std::printf("unhandled %d\n", now() > begin && (low | high) != 0);
  std::fflush(stdout);
  std::raise(SIGSEGV);
  return 1;
}

int block_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const std::int64_t begin = now();
  ::usleep(1'000'000);
  std::printf("slept %lld s\n", static_cast<long long>((now() - begin) / 1'000'000'000));
  return 0;
}

/// Kills whoever asks for the time by a call.
int filter_calls() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 1;
  std::puts("filtered");
  std::fflush(stdout);
  return now() != 0 ? 3 : 4;
}

int become_daemon() {
  if (::fork() != 0) return 0;
  ::setsid();
  if (::fork() != 0) return 0;
  ::usleep(2'000'000);
  std::puts("the daemon is up");
  return 0;
}

/// The thread alone, or all.
template <int call>
int end_in_thread() {
  std::thread other([] { ::syscall(call, 7); });
  ::usleep(1'000'000);
  std::puts("still here");
  std::fflush(stdout);
  other.detach();
  return 0;
}

int overrun_stack(volatile char* above = nullptr) {
  volatile char here[65536];
  here[0] = above == nullptr ? char{} : *above;
  if (here[0] != 0) return 0;
  return overrun_stack(here) + here[0];
}

int flood() {
  for (int i = 0; i < 400'000; ++i) std::puts("a line that somebody has to take note of");
  return 0;
}

/// So does this, without ever ending a line.
int flood_a_line() {
  const std::array<char, 4096> some{};
  for (int i = 0; i < 50'000; ++i) std::fwrite(some.data(), some.size(), 1, stdout);
  return 0;
}

[[noreturn]] int compute_for_ever() {
  for (std::uint64_t count = 0;; ++count) asm volatile("" : "+r"(count));
}

int make_an_unknown_call() {
  constexpr long kOfNoKernel = 500;
  const bool refused = ::syscall(kOfNoKernel, 0, 0, 0) == -1 && errno == ENOSYS;
  return std::puts(refused ? "refused" : "called") < 0 ? 1 : 0;
}

/// By each of the two instructions; then by one that is really none, of which it hears itself.
int read_time_stamps() {
  unsigned processor = 0;
  const std::uint64_t first = __rdtsc();
  const std::uint64_t second = __rdtsc();
  const std::uint64_t third = __rdtscp(&processor);
  std::printf("%llu %llu %u\n", static_cast<unsigned long long>(second - first),
              static_cast<unsigned long long>(third - second), processor);
  std::fflush(stdout);
  std::signal(SIGILL, [](int /*number*/) { ::_exit(7); });
  asm volatile("ud2");
  return 1;
}

/// In registers of each width, of which a narrow one is part of a wider, and by the library.
int ask_for_chance() {
  std::uint64_t whole = 0;
  std::uint64_t half = ~std::uint64_t{0};
  std::uint64_t part = 0x1122'3344'5566'0000;
  std::array<unsigned char, 3> carry{};
  asm volatile("rdrand %0\n setc %1" : "=r"(whole), "=r"(carry[0]) : : "cc");
  asm volatile("movq %2, %%r11\n rdseed %%r11d\n setc %1\n movq %%r11, %0"
               : "=r"(half), "=r"(carry[1])
               : "r"(half)
               : "cc", "r11");
  asm volatile("rdrand %w0\n setc %1" : "+r"(part), "=r"(carry[2]) : : "cc");
  std::printf("%d%d%d %d %d\n", carry[0], carry[1], carry[2], half >> 32 == 0,
              part >> 16 == 0x1122'3344'5566);
  std::random_device device;
  std::printf("%llx %llx %llx %x\n", static_cast<unsigned long long>(whole),
              static_cast<unsigned long long>(half), static_cast<unsigned long long>(part),
              device());
  return 0;
}

/// By each way there is.
int arm_processor_timers() {
  const itimerval soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 1}};
  const itimerspec as_soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 1000}};
  const rlimit none{.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
  timer_t timer{};
  if (::setitimer(ITIMER_PROF, &soon, nullptr) != 0 ||
      ::setitimer(ITIMER_VIRTUAL, &soon, nullptr) != 0 ||
      ::timer_create(CLOCK_PROCESS_CPUTIME_ID, nullptr, &timer) != 0 ||
      ::timer_settime(timer, 0, &as_soon, nullptr) != 0 || ::setrlimit(RLIMIT_CPU, &none) != 0)
    return 1;
  count_in_memory();
  ::usleep(10'000'000);
  return std::puts("still here") < 0 ? 1 : 0;
}

/// With nothing, with what is no memory, and with memory that could be taken away again.
int share_what_cannot_be_shared() {
  const int shrinking = static_cast<int>(::syscall(SYS_memfd_create, "odd", 0));
  if (shrinking < 0 || ::ftruncate(shrinking, 1 << 20) != 0) return 1;
  for (const long call : {anyrdma::sim::kClockCall, anyrdma::sim::kShareEntries}) {
    for (const int fd : {-1, STDIN_FILENO, shrinking}) {
      if (::syscall(call, fd) != -1 || errno != EINVAL) return 1;
    }
  }
  return std::puts("refused") < 0 ? 1 : 0;
}

/// Tells what `call` has returned, and how long after `begin`.
void tell(const char* who, int result, std::int64_t begin) {
  std::printf("%s: %s after %lld ms\n", who, result == 0 ? "has it" : ::strerrorname_np(result),
              static_cast<long long>((now() - begin) / 1'000'000));
  std::fflush(stdout);
}

timespec in_milliseconds(clockid_t clock, long count) {
  timespec time{};
  ::clock_gettime(clock, &time);
  time.tv_nsec += count * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

pthread_mutex_t* make_lock(int protocol, int shared) {
  void* const where = ::mmap(nullptr, sizeof(pthread_mutex_t), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const lock = static_cast<pthread_mutex_t*>(where);
  pthread_mutexattr_t how{};
  ::pthread_mutexattr_init(&how);
  ::pthread_mutexattr_setprotocol(&how, protocol);
  ::pthread_mutexattr_setpshared(&how, shared);
  ::pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
  return ::pthread_mutex_init(lock, &how) == 0 ? lock : nullptr;
}

/// A mutex with priority inheritance: had by another, waited for with two clocks, given in turn,
/// and left behind by a thread that ends.
int inherit_priority() {
  pthread_mutex_t* const lock = make_lock(PTHREAD_PRIO_INHERIT, PTHREAD_PROCESS_PRIVATE);
  if (lock == nullptr) return 1;
  const std::int64_t begin = now();
  ::pthread_mutex_lock(lock);
  tell("first, again", ::pthread_mutex_lock(lock), begin);
  std::thread second([&] {
    tell("second, at once", ::pthread_mutex_trylock(lock), begin);
    timespec end = in_milliseconds(CLOCK_REALTIME, 100);
    tell("second, by date", ::pthread_mutex_timedlock(lock, &end), begin);
    end = in_milliseconds(CLOCK_MONOTONIC, 100);
    tell("second", ::pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &end), begin);
    tell("second", ::pthread_mutex_lock(lock), begin);
    ::usleep(100'000);  // and ends with it
  });
  std::thread third([&] {
    ::usleep(400'000);
    tell("third", ::pthread_mutex_lock(lock), begin);
  });
  ::usleep(500'000);
  ::pthread_mutex_unlock(lock);
  second.join();
  third.join();
  return 0;
}

/// A mutex that processes share, left behind by one that is killed with it.
template <int protocol>
int inherit_from_the_dead() {
  pthread_mutex_t* const lock = make_lock(protocol, PTHREAD_PROCESS_SHARED);
  if (lock == nullptr) return 1;
  const std::int64_t begin = now();
  if (::fork() == 0) {
    ::pthread_mutex_lock(lock);
    ::usleep(300'000);
    ::raise(SIGKILL);
  }
  ::usleep(100'000);
  tell("heir", ::pthread_mutex_lock(lock), begin);
  return 0;
}

/// Waits in many threads until it is killed.
int wait_in_many_threads() {
  constexpr int kThreads = 30;
  for (int i = 0; i < kThreads; ++i) std::thread([] { ::pause(); }).detach();
  return ::pause();
}

/// As a container does that does not allow it: EPERM.
int forbid(unsigned call, char** command) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 1;
  ::execv(command[0], command);
  return 1;
}

/// The same of namespaces.
int forbid_namespaces(char** command) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWPID | CLONE_NEWUSER, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 6, .filter = filter};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 1;
  ::execv(command[0], command);
  return 1;
}

/// What only root of the machine may do: all of it is refused, whoever started us.
int use_privileges() {
  const char* const file = "/tmp/odd-device";
  int refused = 0;
  const auto take = [&refused](const char* what, long result) {
    if (result < 0 && errno == EPERM) ++refused;
    if (result >= 0) std::printf("%s: done\n", what);
  };
  take("mount", ::mount("tmpfs", "/mnt", "tmpfs", 0, nullptr));
  take("umount", ::umount2("/proc/sys", MNT_DETACH));
  take("chroot", ::chroot("/"));
  take("mknod", ::mknod(file, S_IFCHR | 0600, makedev(1, 1)));
  take("setns", ::unshare(CLONE_NEWNS));
  std::printf("refused %d\n", refused);
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && refused == 5 ? 0 : 1;
}

struct Deed {
  const char* name;
  int (*run)();
};

constexpr Deed kDeeds[]{
    {"count-in-memory", tell_time_of<count_in_memory>},
    {"count-in-a-wide-register", tell_time_of<count_in_a_wide_register>},
    {"close-all", close_all},
    {"handle-signals", handle_signals},
    {"block-signals", block_signals},
    {"filter-calls", filter_calls},
    {"become-daemon", become_daemon},
    {"exit-in-thread", end_in_thread<SYS_exit>},
    {"exit-group-in-thread", end_in_thread<SYS_exit_group>},
    {"overrun-stack", [] { return overrun_stack(); }},
    {"flood", flood},
    {"flood-a-line", flood_a_line},
    {"compute-for-ever", compute_for_ever},
    {"unknown-call", make_an_unknown_call},
    {"read-time-stamps", read_time_stamps},
    {"ask-for-chance", ask_for_chance},
    {"arm-processor-timers", arm_processor_timers},
    {"use-privileges", use_privileges},
    {"share-what-cannot-be-shared", share_what_cannot_be_shared},
    {"wait-in-many-threads", wait_in_many_threads},
    {"inherit-priority", inherit_priority},
    {"inherit-from-the-dead", inherit_from_the_dead<PTHREAD_PRIO_NONE>},
    {"inherit-priority-from-the-dead", inherit_from_the_dead<PTHREAD_PRIO_INHERIT>},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "without-ptrace") == 0) return forbid(SYS_ptrace, argv + 2);
  if (argc > 2 && std::strcmp(argv[1], "without-seccomp") == 0)
    return forbid(SYS_seccomp, argv + 2);
  if (argc > 2 && std::strcmp(argv[1], "without-namespaces") == 0)
    return forbid_namespaces(argv + 2);
  for (const Deed& deed : kDeeds) {
    if (argc == 2 && std::strcmp(argv[1], deed.name) == 0) return deed.run();
  }
  return 2;
}
