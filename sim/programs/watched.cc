#include "sim/programs/watched.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "sim/programs/signals.h"
#include "sim/programs/thread.h"

namespace anyrdma::sim::programs {

bool any_ready(const Thread& thread, const std::vector<Watched>& watched) {
  if (has_signal_to_read(thread, watched)) return true;
  std::vector<pollfd> all;
  for (const Watched& each : watched)
    all.push_back({.fd = each.descriptor.get(), .events = each.events, .revents = 0});
  // Our own alarm comes in between now and then.
  for (;;) {
    const int ready = ::poll(all.data(), all.size(), 0);
    if (ready >= 0 || errno != EINTR) return ready != 0;
  }
}

bool has_signal_to_read(const Thread& thread, const std::vector<Watched>& watched) {
  const bool any =
      std::ranges::any_of(watched, [](const Watched& each) { return each.signals != 0; });
  const std::uint64_t pending = any ? pending_signals(thread) : 0;
  return std::ranges::any_of(
      watched, [pending](const Watched& each) { return (each.signals & pending) != 0; });
}

}  // namespace anyrdma::sim::programs
