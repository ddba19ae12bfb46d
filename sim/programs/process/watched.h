// A descriptor that a thread waits for, and whether it is ready.
#pragma once

#include <poll.h>

#include <cstdint>
#include <vector>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

class Thread;

/// A descriptor for which a thread of a program waits. The supervisor holds a duplicate, which
/// stays open during the wait.
struct Watched {
  transport::realtime::Descriptor descriptor;
  short events = 0;           ///< as of poll(2)
  std::uint64_t signals = 0;  ///< of a signalfd(2): it is readable while one of these is pending
};

/// Whether a descriptor is ready, given what poll(2) answered in the supervisor. A signalfd(2),
/// also one in an epoll set, answers by the signals of the process that asks. It looks readable
/// while an alarm of the supervisor is pending, so the kernel is asked once more.
[[nodiscard]] bool is_ready(const Watched& watched, const pollfd& answer);

/// Whether one of the watched descriptors is ready now. Asks the kernel.
[[nodiscard]] bool any_ready(const Thread& thread, const std::vector<Watched>& watched);

/// Whether a signal is pending that a watched signalfd(2) would read.
[[nodiscard]] bool has_signal_to_read(const Thread& thread, const std::vector<Watched>& watched);

}  // namespace anyrdma::sim::programs
