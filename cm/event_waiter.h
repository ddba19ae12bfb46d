// Waits for an event without blocking. EventChannel::async_get uses it.
#pragma once

#include <boost/intrusive/list.hpp>

#include "cm/event.h"

namespace anyrdma::cm {

class EventChannel;

/// Is called once when its channel has an event for it, then takes the event where and when it
/// likes. Waiters of one channel are called in the order in which they began to wait. Events stay
/// in the channel until they are taken, so a waiter that goes away loses none. Allocates nothing.
/// Threads: as EventChannel; cancel(), take() and the destructor of one waiter one at a time, and
/// not while the channel is closed or destroyed in another thread.
class EventWaiter : public boost::intrusive::list_base_hook<> {
 public:
  EventWaiter(const EventWaiter&) = delete;
  EventWaiter& operator=(const EventWaiter&) = delete;

  /// Begins to wait: on_ready() follows once, perhaps from within. Precondition: not waiting.
  void wait(EventChannel& channel);
  /// Stops waiting: calls on_ready() before it returns, unless on_ready() was called before.
  void cancel();
  /// The event; call it after on_ready(), outside the critical section. ECANCELED: cancelled before
  /// there was one, or the channel was closed. EAGAIN: another fetcher got it; the waiter waits
  /// again, before all others, and may have been called and destroyed in another thread already.
  [[nodiscard]] Result<Event> take();

 protected:
  EventWaiter() = default;
  /// Stops waiting; the next waiter may get the event.
  virtual ~EventWaiter();

 private:
  friend class EventChannel;
  /// Called inside the critical section: must hand over to where take() is to be called, and
  /// neither call back nor run code of the application.
  virtual void on_ready() noexcept = 0;

  EventChannel* channel_ = nullptr;  ///< null: not waiting, or the channel was closed
  bool called_ = false;              ///< on its way to an event
  bool cancelled_ = false;
};

using EventWaiters = boost::intrusive::list<EventWaiter>;

}  // namespace anyrdma::cm
