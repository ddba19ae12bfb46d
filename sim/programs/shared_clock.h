// The supervisor's side of the page in which a process reads its clocks (sim/points/clock_page.h).
#pragma once

#include <cstdint>
#include <memory>

#include "sim/points/clock_page.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/shared_memory.h"
#include "verbs/time.h"

namespace anyrdma::sim::programs {

/// The clock page of a program's image: fork(2) gives it to the child as well, execve(2) ends it.
class SharedClock {
 public:
  /// The current value of a clock.
  struct Face {
    verbs::Duration up{};    ///< CLOCK_MONOTONIC
    verbs::Duration date{};  ///< CLOCK_REALTIME
    verbs::Duration cost{};  ///< of a reading
    std::uint64_t readings = 0;
  };

  /// Null: the memory is not as it should be.
  [[nodiscard]] static std::shared_ptr<SharedClock> map(
      const transport::realtime::Descriptor& memory);

  /// The process may read, so often.
  void open(const Face& face);
  /// Withdraws the permission. Returns how often the thread used it, at most as often as it was
  /// allowed.
  [[nodiscard]] std::uint64_t close();

 private:
  explicit SharedClock(transport::realtime::SharedMemory memory) : memory_(std::move(memory)) {}
  [[nodiscard]] ClockPage& page() { return *reinterpret_cast<ClockPage*>(memory_.bytes().data()); }

  transport::realtime::SharedMemory memory_;
  std::uint64_t allowed_ = 0;
};

}  // namespace anyrdma::sim::programs
