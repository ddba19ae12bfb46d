#include "sim/programs/process/watched.h"

#include <algorithm>
#include <cerrno>

#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

bool is_ready(const Watched& watched, const pollfd& answer) {
  if (answer.revents == 0 || watched.signals == 0) return answer.revents != 0;
  pollfd again{.fd = answer.fd, .events = answer.events, .revents = 0};
  while (::poll(&again, 1, 0) < 0 && errno == EINTR) continue;
  return again.revents != 0;
}

bool any_ready(const Thread& thread, const std::vector<Watched>& watched) {
  if (has_signal_to_read(thread, watched)) return true;
  std::vector<pollfd> all;
  for (const Watched& each : watched)
    all.push_back({.fd = each.descriptor.get(), .events = each.events, .revents = 0});
  // Our own alarm comes in between now and then.
  while (::poll(all.data(), all.size(), 0) < 0 && errno == EINTR) continue;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_ready(watched[i], all[i])) return true;
  return false;
}

bool has_signal_to_read(const Thread& thread, const std::vector<Watched>& watched) {
  const bool any =
      std::ranges::any_of(watched, [](const Watched& each) { return each.signals != 0; });
  const std::uint64_t pending = any ? pending_signals(thread) : 0;
  return std::ranges::any_of(
      watched, [pending](const Watched& each) { return (each.signals & pending) != 0; });
}

}  // namespace anyrdma::sim::programs
