// Waits for an event without blocking. EventChannel::async_get uses it.
#pragma once

#include <boost/intrusive/list.hpp>

#include "cm/event.h"

namespace anyrdma::cm {

class EventChannel;

/// The base class of objects that wait for an event without blocking a thread. on_ready() is called
/// once, when the channel has an event for the waiter; take() then fetches the event. Waiters of
/// one channel are called in the order in which they began to wait. Events stay in the channel
/// until they are taken, so a waiter that is destroyed loses none. Allocates nothing. Threads: as
/// EventChannel. Call cancel(), take() and the destructor of one waiter one at a time, and not
/// while another thread closes or destroys the channel.
class EventWaiter : public boost::intrusive::list_base_hook<> {
 public:
  EventWaiter(const EventWaiter&) = delete;
  EventWaiter& operator=(const EventWaiter&) = delete;

  /// Begins to wait. on_ready() follows once, perhaps from within this call. Precondition: the
  /// object does not wait already.
  void wait(EventChannel& channel);
  /// Stops waiting. If on_ready() was not called yet, it is called before cancel() returns.
  void cancel();
  /// Returns the event. Call it after on_ready(), outside the critical section
  /// (verbs::Runtime::enter). ECANCELED: the wait was cancelled before an event came, or the
  /// channel was closed. EAGAIN: another fetcher took the event. The waiter then waits again,
  /// before all others, and another thread may already have called and destroyed it.
  [[nodiscard]] Result<Event> take();

 protected:
  EventWaiter() = default;
  /// Stops waiting. The next waiter may get the event.
  virtual ~EventWaiter();

 private:
  friend class EventChannel;
  /// Called inside the critical section (verbs::Runtime::enter) when an event is there. The
  /// implementation must arrange a call of take() elsewhere. It must neither call the library nor
  /// run code of the application.
  virtual void on_ready() noexcept = 0;

  EventChannel* channel_ = nullptr;  ///< null: not waiting, or the channel was closed
  bool called_ = false;              ///< on its way to an event
  bool cancelled_ = false;
};

using EventWaiters = boost::intrusive::list<EventWaiter>;

}  // namespace anyrdma::cm
