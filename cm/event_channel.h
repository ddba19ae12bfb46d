// The queue in which events wait for the application.
#pragma once

#include <rdma/rdma_cma.h>

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <memory>

#include "cm/event.h"
#include "cm/event_record.h"
#include "cm/event_waiter.h"
#include "transport/transport.h"
#include "verbs/runtime.h"

namespace anyrdma::cm {

class Id;

/// A queue of events, first in, first out, for any number of ids of one transport. Each event is
/// fetched once. Fetching does what librdmacm does at that moment: it fills in the id, moves its
/// QP, and answers a connection response. Embeds the rdma_event_channel that C programs see.
/// Threads: any number may fetch from one channel, but not while it is destroyed. Source:
/// rdma_create_event_channel(3), rdma_get_cm_event(3).
class EventChannel {
 public:
  /// Creates a channel. `transport` must outlive it. ENODEV: the transport has no device. Also
  /// EMFILE, ENOMEM.
  [[nodiscard]] static Result<std::unique_ptr<EventChannel>> create(
      transport::Transport& transport);
  /// Closes the channel. Fetched events stay valid until they are acknowledged.
  ~EventChannel();
  /// Ends every id on the channel, as the kernel does when the descriptor closes. Peers see the
  /// same as when the ids are destroyed. Afterwards these ids can only be destroyed. A thread that
  /// is in get(), or calls it later, waits for ever, because C programs such as rping leave threads
  /// there. Asynchronous waiters are called at once.
  void close();
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  [[nodiscard]] static EventChannel& from(rdma_event_channel* raw);
  [[nodiscard]] rdma_event_channel* raw() { return &raw_.channel; }

  /// Waits for the next event and returns it. The library handles some events itself, so get() may
  /// wait although fd() was readable. Errors: EAGAIN if fd() is non-blocking and there is no event,
  /// EINTR for a signal, EDEADLK if the simulator knows that no event will ever come.
  [[nodiscard]] Result<Event> get();
  /// Returns the next event if there is one, else EAGAIN.
  [[nodiscard]] Result<Event> try_get();
  /// Passes the next event to a completion token of Asio. Include cm/asio/async_get.h, which
  /// defines and describes the function.
  template <class CompletionToken>
  auto async_get(CompletionToken&& token);
  /// Passes an asynchronous event of a QP to Id::notify of the id whose accept() named that QP.
  /// ENOENT: no id on this channel has done so; EINVAL: not IBV_EVENT_COMM_EST; also errors of
  /// Id::notify.
  [[nodiscard]] Result<void> notify(const ibv_async_event& event);
  /// A descriptor that is readable while events wait; -1 in the simulator.
  [[nodiscard]] int fd() const { return semaphore_->fd(); }

  [[nodiscard]] transport::Transport& transport() const { return transport_; }

 private:
  friend class EventWaiter;
  friend class Id;
  /// The rdma_event_channel that C programs see, with a pointer to its EventChannel.
  struct Raw {
    rdma_event_channel channel{};
    EventChannel* owner = nullptr;
  };

  EventChannel(transport::Transport& transport, std::unique_ptr<verbs::Semaphore> semaphore);

  /// Removes the oldest event, and does what librdmacm does when an event is fetched. Null: the
  /// library handled the event itself, or the queue was empty.
  [[nodiscard]] EventRecord* fetch();
  [[nodiscard]] EventRecord* pop();

  // --- for Id, inside the critical section ------------------------------------------------------
  void push(EventRecord& record);
  /// Reports a step of an event to the transport's observer, if there is one.
  void observe(transport::EventObserver::Step step, const EventRecord& record) const;
  /// Moves the unfetched events that count for `id` from the queue to `out`: those of one multicast
  /// group, or all if `group` is null.
  void extract(Id& id, const Membership* group, EventQueue& out);

  // --- event_waiter.cc, inside the critical section ---------------------------------------------

  /// Calls waiters until each queued event has a waiter that was called for it, or no waiter is
  /// left.
  void call_waiters();
  void dismiss_waiters();

  Raw raw_;
  transport::Transport& transport_;
  std::unique_ptr<verbs::Semaphore> semaphore_;
  EventPool* pool_;
  EventQueue queue_;
  /// Number of units of the semaphore that have no event: the event was removed after a thread had
  /// taken the unit.
  std::size_t missing_units_ = 0;
  /// Waiters that were not called, in the order in which they began to wait.
  EventWaiters waiting_;
  EventWaiters called_;  ///< waiters that were called and have not taken an event yet
  bool closed_ = false;
  Id* first_id_ = nullptr;  ///< the ids on this channel, oldest first
  Id* last_id_ = nullptr;
};

}  // namespace anyrdma::cm
