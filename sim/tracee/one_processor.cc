#include "sim/tracee/one_processor.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace anyrdma::sim::tracee {
namespace {

/// How long a thread has waited for a processor: the second number of proc(5)'s schedstat.
std::chrono::nanoseconds read_wait(int file) {
  std::array<char, 96> text{};
  if (::pread(file, text.data(), text.size() - 1, 0) <= 0) return {};
  char* second = nullptr;
  (void)std::strtoull(text.data(), &second, 10);
  return std::chrono::nanoseconds(std::strtoll(second, nullptr, 10));
}

}  // namespace

OneProcessor::OneProcessor() {
  if (::sched_getaffinity(0, sizeof allowed_, &allowed_) != 0 || CPU_COUNT(&allowed_) < 2) return;
  waited_ =
      transport::realtime::Descriptor(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  // Without that it could not be seen whether others want the same one.
  if (!waited_) return;
  processor_ = ::sched_getcpu();
  keep(std::array{pid_t{0}});
  looked_ = std::chrono::steady_clock::now();
  waited_before_ = read_wait(waited_.get());
}

OneProcessor::~OneProcessor() {
  if (processor_ >= 0) (void)::sched_setaffinity(0, sizeof allowed_, &allowed_);
}

bool OneProcessor::is_crowded() {
  using namespace std::chrono_literals;
  constexpr unsigned kAskedUntilLooking = 256;  // some milliseconds of short turns
  if (processor_ < 0 || ++asked_ % kAskedUntilLooking != 0) return false;
  const auto now = std::chrono::steady_clock::now();
  const auto passed = now - looked_;
  if (passed < 20ms) return false;
  const std::chrono::nanoseconds waited = read_wait(waited_.get());
  const auto since = waited - waited_before_;
  looked_ = now;
  waited_before_ = waited;
  return since > passed / 8;
}

void OneProcessor::move(std::span<const pid_t> threads) {
  if (processor_ < 0) return;
  do {
    processor_ = (processor_ + 1) % CPU_SETSIZE;
  } while (!CPU_ISSET(static_cast<std::size_t>(processor_), &allowed_));
  keep(std::array{pid_t{0}});
  keep(threads);
}

void OneProcessor::keep(std::span<const pid_t> threads) const {
  if (processor_ < 0) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(processor_), &one);
  for (const pid_t each : threads) (void)::sched_setaffinity(each, sizeof one, &one);
}

}  // namespace anyrdma::sim::tracee
