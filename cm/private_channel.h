// The channel of a synchronous id, and the result of its blocking calls.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>
#include <optional>

#include "cm/event.h"
#include "cm/event_channel.h"

namespace anyrdma::cm {

/// Result of a synchronous call, from the event it waited for. Status 0 is success for any event
/// type. REJECTED gives ECONNREFUSED; otherwise the error is |status|. Source:
/// L/cma.c:ucma_complete.
[[nodiscard]] Result<void> result_of(const rdma_cm_event& event);

/// The channel of one synchronous id, and the event its last blocking call waited for, which stays
/// unacknowledged until the next one. Used by one thread at a time.
class PrivateChannel {
 public:
  /// `shown` (rdma_cm_id::event) always points to the kept event. Errors of EventChannel::create.
  [[nodiscard]] static Result<std::unique_ptr<PrivateChannel>> create(
      transport::Transport& transport, rdma_cm_event*& shown);
  /// Acknowledges the event that is kept.
  ~PrivateChannel() { forget(); }
  PrivateChannel(const PrivateChannel&) = delete;
  PrivateChannel& operator=(const PrivateChannel&) = delete;

  [[nodiscard]] EventChannel& channel() { return *channel_; }
  /// Acknowledges the event kept, waits for the next one, keeps it and gives its result_of().
  /// Errors of EventChannel::get leave nothing kept.
  [[nodiscard]] Result<void> next();
  /// Returns the event that is kept; null: none.
  [[nodiscard]] Event* event() { return event_ ? &*event_ : nullptr; }
  void keep(Event event);
  /// Returns the event and keeps it no longer. Precondition: an event is kept.
  [[nodiscard]] Event take();
  void forget();

 private:
  PrivateChannel(std::unique_ptr<EventChannel> channel, rdma_cm_event*& shown)
      : channel_(std::move(channel)), shown_(shown) {}

  std::unique_ptr<EventChannel> channel_;
  std::optional<Event> event_;
  rdma_cm_event*& shown_;
};

}  // namespace anyrdma::cm
