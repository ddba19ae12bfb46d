// The event channel of a synchronous id, and the results of its blocking calls.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>
#include <optional>

#include "cm/event.h"
#include "cm/event_channel.h"

namespace anyrdma::cm {

/// Returns the result of a synchronous call, from the event that the call waited for. Status 0 is
/// success, for any event type. REJECTED gives ECONNREFUSED; otherwise the error is |status|.
/// Source: L/cma.c:ucma_complete.
[[nodiscard]] Result<void> result_of(const rdma_cm_event& event);

/// The event channel of one synchronous id. It keeps the event of the id's last blocking call,
/// unacknowledged, until the next call. Used by one thread at a time.
class PrivateChannel {
 public:
  /// Creates the channel. `shown` (rdma_cm_id::event) always points to the kept event, or is null.
  /// Errors: as EventChannel::create.
  [[nodiscard]] static Result<std::unique_ptr<PrivateChannel>> create(
      transport::Transport& transport, rdma_cm_event*& shown);
  /// Acknowledges the event that is kept.
  ~PrivateChannel() { forget(); }
  PrivateChannel(const PrivateChannel&) = delete;
  PrivateChannel& operator=(const PrivateChannel&) = delete;

  [[nodiscard]] EventChannel& channel() { return *channel_; }
  /// Acknowledges the kept event, waits for the next event, keeps it and returns its result_of().
  /// After an error of EventChannel::get no event is kept.
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
