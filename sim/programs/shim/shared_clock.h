// The supervisor's side of the shared page from which a process reads its clocks without a system
// call (sim/points/clock_page.h).
#pragma once

#include <cstdint>
#include <memory>

#include "sim/points/clock_page.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/shared_memory.h"
#include "verbs/time.h"

namespace anyrdma::sim::programs {

/// The clock page of one process. A child of fork(2) shares it; execve(2) ends it.
class SharedClock {
 public:
  /// The current value of a clock.
  struct Face {
    verbs::Duration up{};    ///< CLOCK_MONOTONIC
    verbs::Duration date{};  ///< CLOCK_REALTIME
    verbs::Duration cost{};  ///< of a reading
    std::uint64_t readings = 0;
    std::uint64_t points = 0;  ///< scheduling points that may be passed
  };

  /// Maps the clock page of a process. Null: the memory does not have the expected form.
  [[nodiscard]] static std::shared_ptr<SharedClock> map(
      const transport::realtime::Descriptor& memory);

  /// The process may read the clock and pass scheduling points, so often.
  void open(const Face& face);
  /// What a thread did by the page: how often it read its clock, and how often it passed a
  /// scheduling point.
  struct Use {
    std::uint64_t readings = 0;  ///< all
    std::uint64_t own = 0;       ///< those that anyrdma's libraries made
    std::uint64_t points = 0;
  };
  /// Ends the permissions. Returns how the thread used them, at most as often as allowed.
  [[nodiscard]] Use close();

 private:
  explicit SharedClock(transport::realtime::SharedMemory memory) : memory_(std::move(memory)) {}
  [[nodiscard]] ClockPage& page() { return *reinterpret_cast<ClockPage*>(memory_.bytes().data()); }

  transport::realtime::SharedMemory memory_;
  std::uint64_t allowed_ = 0;
  std::int64_t points_ = 0;  ///< allowed
};

}  // namespace anyrdma::sim::programs
