// Programs look at the clock all the time. Here they do so without a system call, as the vDSO has
// it elsewhere: in a page that the world fills in (clock_page.h). It says how often they may, until
// something happens in the world or others want their turn; then, and for clocks that are not
// there, it is the system call.
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "sim/points/clock_page.h"
#include "transport/realtime/own_clock.h"
#include "transport/realtime/passing.h"

namespace {

using anyrdma::sim::ClockPage;
using anyrdma::sim::kClockBytes;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMicrosecond = 1'000;

// Never unmapped. A child has its parent's, which the world knows.
std::atomic<ClockPage*> the_page{nullptr};
std::atomic<bool> asked{false};

/// Nothing but system calls: whoever asks for the time may be in a signal handler, or in the middle
/// of anything.
ClockPage* make_page() {
  // Who may have no file as long as that would die of trying.
  rlimit limit{};
  if (::syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) != 0) return nullptr;
  if (limit.rlim_cur < kClockBytes) return nullptr;
  const long fd = ::syscall(SYS_memfd_create, "clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return nullptr;
  long at = -1;
  if (::syscall(SYS_ftruncate, fd, kClockBytes) == 0 &&
      ::syscall(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    at = ::syscall(SYS_mmap, nullptr, kClockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != -1 && ::syscall(anyrdma::sim::kClockCall, fd) != 0) {
    ::syscall(SYS_munmap, at, kClockBytes);
    at = -1;
  }
  ::syscall(SYS_close, fd);
  return at == -1 ? nullptr : reinterpret_cast<ClockPage*>(at);
}

ClockPage* page() {
  // A second thread, or a handler, that comes meanwhile asks the system.
  if (!asked.exchange(true, std::memory_order_relaxed)) {
    const int error = errno;
    the_page.store(make_page(), std::memory_order_release);
    errno = error;
  }
  return the_page.load(std::memory_order_acquire);
}

/// The next point is a system call, by which the world sees what has happened.
void end_passing(ClockPage& page) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (page.points.load(kRelaxed) <= 0) return;
  page.forgone.fetch_add(std::max<std::int64_t>(page.points.exchange(0, kRelaxed), 0), kRelaxed);
}

/// What the clock shows; negative: the system has to be asked.
std::int64_t read(clockid_t clock, bool own = false) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  ClockPage* const from = page();
  if (from == nullptr) return -1;
  const std::atomic<std::int64_t>* base = nullptr;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      base = &from->date;
      break;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      base = &from->up;
      break;
    default:
      return -1;
  }
  const std::uint64_t readings = from->readings.load(kRelaxed) + 1;
  if (readings > from->allowed.load(kRelaxed)) return -1;
  from->readings.store(readings, kRelaxed);
  end_passing(*from);
  if (own) from->own.store(from->own.load(kRelaxed) + 1, kRelaxed);
  return base->load(kRelaxed) + static_cast<std::int64_t>(readings) * from->cost.load(kRelaxed);
}

}  // namespace

// Under names of their own: those of libc's headers promise that nobody asks for nothing.
extern "C" {
std::int64_t anyrdma_own_clock() noexcept {
  const std::int64_t now = read(CLOCK_MONOTONIC, true);
  if (now >= 0) return now;
  timespec time{};
  (void)::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time,
                  anyrdma::transport::realtime::kOwnReading);
  return time.tv_sec * kSecond + time.tv_nsec;
}

int read_clock(clockid_t clock, timespec* time) noexcept __asm__("clock_gettime");
int read_clock(clockid_t clock, timespec* time) noexcept {
  const std::int64_t now = time == nullptr ? -1 : read(clock);
  if (now < 0) return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  *time = {.tv_sec = now / kSecond, .tv_nsec = now % kSecond};
  return 0;
}

std::int64_t anyrdma_peek_clock() noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const ClockPage* const from = the_page.load(std::memory_order_acquire);
  if (from == nullptr) return -1;
  const auto readings = static_cast<std::int64_t>(from->readings.load(kRelaxed));
  return from->up.load(kRelaxed) + readings * from->cost.load(kRelaxed);
}

bool anyrdma_pass_point() noexcept {
  ClockPage* const from = the_page.load(std::memory_order_acquire);
  return from != nullptr && from->points.fetch_sub(1, std::memory_order_relaxed) > 0;
}

void anyrdma_end_passing() noexcept {
  ClockPage* const from = the_page.load(std::memory_order_acquire);
  if (from != nullptr) end_passing(*from);
}

int read_time_of_day(timeval* time, void* zone) noexcept __asm__("gettimeofday");
int read_time_of_day(timeval* time, void* zone) noexcept {
  const std::int64_t now = time == nullptr || zone != nullptr ? -1 : read(CLOCK_REALTIME);
  if (now < 0) return static_cast<int>(::syscall(SYS_gettimeofday, time, zone));
  *time = {.tv_sec = now / kSecond, .tv_usec = now % kSecond / kMicrosecond};
  return 0;
}

time_t read_time(time_t* also) noexcept __asm__("time");
time_t read_time(time_t* also) noexcept {
  const std::int64_t now = read(CLOCK_REALTIME);
  if (now < 0) return ::syscall(SYS_time, also);
  if (also != nullptr) *also = now / kSecond;
  return now / kSecond;
}
}
