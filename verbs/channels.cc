#include "verbs/channels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "verbs/provider.h"

namespace anyrdma::verbs {
namespace {

/// The channels that were destroyed last, by address. Each function may be called by any thread;
/// the slots are independent of each other, and no other memory depends on them.
class EndedChannels {
 public:
  void add(ibv_comp_channel* channel) {
    slots_[next_.fetch_add(1, std::memory_order_relaxed) % slots_.size()] = channel;
  }
  /// The address is that of a channel again.
  void remove(ibv_comp_channel* channel) {
    for (std::atomic<ibv_comp_channel*>& each : slots_) {
      ibv_comp_channel* expected = channel;
      each.compare_exchange_strong(expected, nullptr);
    }
  }
  [[nodiscard]] bool has(const ibv_comp_channel* channel) const {
    return std::ranges::any_of(slots_, [channel](const auto& each) { return each == channel; });
  }

 private:
  std::array<std::atomic<ibv_comp_channel*>, 64> slots_{};
  std::atomic<std::size_t> next_{0};
};

constinit EndedChannels ended_channels;

}  // namespace

Result<ibv_comp_channel*> create_channel(ibv_context* context) {
  const Result<ibv_comp_channel*> channel = provider_of(context).create_comp_channel(context);
  if (channel) ended_channels.remove(*channel);
  return channel;
}

Result<void> destroy_channel(ibv_comp_channel* channel) {
  if (ended_channels.has(channel)) return errno_code(EBADF);
  Provider& provider = provider_of(channel->context);
  ended_channels.add(channel);  // before its memory is free: another thread may be about to use it
  const Result<void> destroyed = provider.destroy_comp_channel(channel);
  if (!destroyed) ended_channels.remove(channel);
  return destroyed;
}

bool channel_has_ended(const ibv_comp_channel* channel) {
  return ended_channels.has(channel);
}

}  // namespace anyrdma::verbs
