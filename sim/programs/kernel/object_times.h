// The times of System V objects, which the kernel takes from the machine's clock. Source:
// shmctl(2), msgctl(2), semctl(2).
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <tuple>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim {
class Host;
}

namespace anyrdma::sim::programs {

/// Keeps virtual times for the objects. An object counts as made when a program first uses it or
/// asks for its state, and as used when a program last tried to.
class ObjectTimes {
 public:
  enum class Kind : std::uint8_t { kMemory, kQueue, kSemaphores };
  /// What IPC_STAT returns, where the kernel's own time is not 0. 0: not known yet.
  struct Times {
    time_t made = 0;  ///< or changed by IPC_SET
    time_t used = 0;  ///< attached, sent to, operated on
    time_t left = 0;  ///< detached, received from
  };

  [[nodiscard]] Times& of(const Host& host, Kind kind, int id) { return known_[{&host, kind, id}]; }

 private:
  std::map<std::tuple<const Host*, Kind, int>, Times> known_;
};

/// Call when a thread is about to use the object with the id that is the first argument of `call`.
void note_use(Thread& thread, const Call& call);

// Commands that return times, or change them.
[[nodiscard]] Outcome on_shmctl(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_msgctl(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_semctl(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
