// Completion queues and the channels that announce them.
#pragma once

#include <cerrno>
#include <cstddef>
#include <limits>
#include <span>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Owns an ibv_comp_channel: a way to wait for completions.
class CompletionChannel : public Handle<ibv_comp_channel, &Provider::destroy_comp_channel> {
 public:
  using Handle::Handle;
  /// EINVAL: null context; EMFILE: out of descriptors.
  [[nodiscard]] static Result<CompletionChannel> create(ibv_context* context);
  /// Waits for the next announced queue; acknowledge it on that queue. Errors: see Semaphore::wait.
  [[nodiscard]] Result<ibv_cq*> wait() const;
};

enum class Notify : int { kAny = 0, kSolicitedOnly = 1 };

/// The optional arguments of a completion queue.
struct CompletionQueueOptions {
  ibv_comp_channel* channel = nullptr;  ///< where notifications go; null: none
  void* cq_context = nullptr;
  int comp_vector = 0;
};

/// Cannot be polled: poll() returns kNobodyPolled.
extern ibv_cq no_completion_queue;
inline constexpr int kNobodyPolled = std::numeric_limits<int>::min();
template <>
[[nodiscard]] constexpr ibv_cq* nobody() {
  return &no_completion_queue;
}

/// Owns an ibv_cq.
class CompletionQueue : public Handle<ibv_cq, &Provider::destroy_cq> {
 public:
  using Handle::Handle;
  /// EINVAL: null context, or a depth the device cannot give; ENOMEM: too many.
  [[nodiscard]] static Result<CompletionQueue> create(ibv_context* context, int depth,
                                                      const CompletionQueueOptions& options = {});
  /// Polls up to completions.size() completions and returns their number. EIO: an error of the
  /// device.
  [[nodiscard]] Result<std::size_t> poll(std::span<ibv_wc> completions) const {
    const int got = ibv_poll_cq(object(), static_cast<int>(completions.size()), completions.data());
    if (got < 0) {
      // No look at the handle, and a return each: so compilers see that who compares the number
      // need not ask for errors, and RAII adds no instruction.
      if (got == kNobodyPolled) return errno_code(EINVAL);
      return errno_code(EIO);
    }
    return static_cast<std::size_t>(got);
  }
  /// The next completion (or solicited one) will be announced on the channel, once.
  [[nodiscard]] Result<void> request_notification(Notify what) const;
  void acknowledge(unsigned events) const;
};

}  // namespace anyrdma::verbs
