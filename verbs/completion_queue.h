// RAII classes for completion queues and for the channels that report their completions.
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
  /// Waits until a completion queue of this channel reports a completion, and returns that queue.
  /// The caller must acknowledge the event on the returned queue. Errors: see Semaphore::wait.
  [[nodiscard]] Result<ibv_cq*> wait() const;
};

enum class Notify : int { kAny = 0, kSolicitedOnly = 1 };

/// The optional arguments of a completion queue.
struct CompletionQueueOptions {
  ibv_comp_channel* channel = nullptr;  ///< where notifications go; null: none
  void* cq_context = nullptr;
  int comp_vector = 0;
};

/// The completion queue that an empty CompletionQueue refers to. Polling it returns kNobodyPolled,
/// which becomes EINVAL.
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
  /// Creates a completion queue for `depth` completions. EINVAL: null context, or a depth that the
  /// device does not support; ENOMEM: too many queues.
  [[nodiscard]] static Result<CompletionQueue> create(ibv_context* context, int depth,
                                                      const CompletionQueueOptions& options = {});
  /// Polls up to completions.size() completions and returns their number. EIO: an error of the
  /// device.
  [[nodiscard]] Result<std::size_t> poll(std::span<ibv_wc> completions) const {
    const int got = ibv_poll_cq(object(), static_cast<int>(completions.size()), completions.data());
    if (got < 0) {
      // An empty queue is recognised by this return value, not by a check of the handle, and each
      // case has its own return. So the compiler sees that a caller that compares the number needs
      // no test for errors, and RAII adds no instruction.
      if (got == kNobodyPolled) return errno_code(EINVAL);
      return errno_code(EIO);
    }
    return static_cast<std::size_t>(got);
  }
  /// Requests one completion event on the channel, for the next completion (or the next solicited
  /// completion).
  [[nodiscard]] Result<void> request_notification(Notify what) const;
  void acknowledge(unsigned events) const;
};

}  // namespace anyrdma::verbs
