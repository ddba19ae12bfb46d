// A program for tests that looks at its clocks, by the C library and by system calls of its own,
// and says what is wrong with what they show.
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>

namespace {

using Nanoseconds = std::int64_t;

Nanoseconds of(const timespec& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

Nanoseconds by_library(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) std::abort();
  return of(time);
}

Nanoseconds by_call(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  if (::syscall(SYS_clock_gettime, clock, &time) != 0) std::abort();
  return of(time);
}

/// A millisecond, which is virtual, in which nothing is looked at.
void let_time_pass() {
  ::poll(nullptr, 0, 1);
}

int report(const char* what, std::uint64_t wrong) {
  std::printf("%s: %llu wrong at %lld ns\n", what, static_cast<unsigned long long>(wrong),
              static_cast<long long>(by_library()));
  return wrong == 0 ? 0 : 1;
}

/// In an order of no pattern. No clock goes back, nor stands still.
int alternate() {
  std::uint64_t wrong = 0;
  std::uint32_t dice = 1;
  Nanoseconds last = 0;
  for (int i = 0; i < 3000; ++i) {
    dice = dice * 1664525 + 1013904223;
    const std::uint32_t way = dice >> 28;
    if (way == 0) ::sched_yield();
    if (way == 1) let_time_pass();
    const Nanoseconds now = way < 11 ? by_library() : by_call();
    if (now <= last) ++wrong;
    last = now;
  }
  return report("alternating", wrong);
}

/// All ways of asking for the date are of one date, and all clocks without one of one age.
int compare() {
  constexpr Nanoseconds kSoon = 1'000'000;
  std::uint64_t wrong = 0;
  const auto soon_after = [&](Nanoseconds before, Nanoseconds now) {
    if (now < before || now - before > kSoon) ++wrong;
    return now;
  };
  Nanoseconds date = by_call(CLOCK_REALTIME);
  timeval time{};
  for (int i = 0; i < 50; ++i) {
    date = soon_after(date, by_library(CLOCK_REALTIME));
    date = soon_after(date, by_library(CLOCK_REALTIME_COARSE));
    ::gettimeofday(&time, nullptr);
    (void)soon_after(date / 1000, time.tv_sec * 1'000'000 + time.tv_usec);
    (void)soon_after(date / 1'000'000'000, ::time(nullptr));
    date = soon_after(date, by_call(CLOCK_REALTIME));
  }
  Nanoseconds age = by_call();
  for (const clockid_t clock : {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE,
                                CLOCK_BOOTTIME, CLOCK_MONOTONIC}) {
    age = soon_after(age, by_library(clock));
    age = soon_after(age, by_call(clock));
  }
  return report("comparing", wrong);
}

/// A thread tells another one what it has read, in memory alone: that one never reads less.
int tell() {
  std::uint64_t wrong = 0;
  std::mutex mutex;
  Nanoseconds told = 0;
  const auto body = [&](bool library) {
    for (int i = 0; i < 500; ++i) {
      const std::lock_guard lock(mutex);
      const Nanoseconds now = library ? by_library() : by_call();
      if (now < told) ++wrong;
      told = library ? by_library() : now;
      if (i % 7 == 0) ::sched_yield();
    }
  };
  std::thread first(body, true);
  std::thread second(body, true);
  std::thread third(body, false);
  first.join();
  second.join();
  third.join();
  return report("telling", wrong);
}

/// A child that is a copy has its parent's page; one that runs another program, one of its own.
int fork_and_exec(char** argv) {
  auto* const told = static_cast<std::atomic<Nanoseconds>*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::uint64_t wrong = 0;
  *told = by_library();
  if (::fork() == 0) {
    for (int i = 0; i < 100; ++i) {
      const Nanoseconds before = *told;
      const Nanoseconds now = i % 9 == 0 ? by_call() : by_library();
      if (now < before) ++wrong;
      *told = now;
      if (i % 10 == 0) let_time_pass();
    }
    if (wrong != 0) return 1;
    ::execl("/proc/self/exe", argv[0], "alternate", nullptr);
    return 1;
  }
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds before = *told;
    const Nanoseconds now = by_library();
    if (now < before) ++wrong;
    *told = now;
    if (i % 10 == 0) let_time_pass();
  }
  int status = 0;
  ::wait(&status);
  return report("a child and its parent", wrong + (status != 0 ? 1 : 0));
}

/// Asks for nothing but the time until it is over.
int wait_busily() {
  constexpr Nanoseconds kLong = 20'000'000;
  const Nanoseconds end = by_library() + kLong;
  while (by_library() < end) continue;
  return report("waiting busily", by_call() - end > kLong ? 1 : 0);
}

/// What a reading takes: by the library, then by a call.
int cost() {
  let_time_pass();
  const Nanoseconds first = by_library();
  const Nanoseconds second = by_library();
  let_time_pass();
  const Nanoseconds third = by_call();
  const Nanoseconds fourth = by_call();
  std::printf("a reading takes %lld ns, a call %lld ns\n", static_cast<long long>(second - first),
              static_cast<long long>(fourth - third));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const deed = argc == 2 ? argv[1] : "";
  if (std::strcmp(deed, "alternate") == 0) return alternate();
  if (std::strcmp(deed, "compare") == 0) return compare();
  if (std::strcmp(deed, "tell") == 0) return tell();
  if (std::strcmp(deed, "fork-and-exec") == 0) return fork_and_exec(argv);
  if (std::strcmp(deed, "wait-busily") == 0) return wait_busily();
  if (std::strcmp(deed, "cost") == 0) return cost();
  return 2;
}
