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

/// One FIFO of events for any number of ids of one transport; each event goes to exactly one
/// fetcher. Fetching does what librdmacm does at that moment: it fills the id in, moves its QP, and
/// answers a connection response. Embeds the rdma_event_channel that C programs see. Threads: any
/// number may fetch from one channel; not safe against its destruction. Source:
/// rdma_create_event_channel(3), rdma_get_cm_event(3).
class EventChannel {
 public:
  /// `transport` outlives the channel. ENODEV: the transport has no device; EMFILE, ENOMEM.
  [[nodiscard]] static Result<std::unique_ptr<EventChannel>> create(
      transport::Transport& transport);
  /// Closes. Fetched events stay valid until acknowledged.
  ~EventChannel();
  /// Ends every id on the channel, as the kernel does when the descriptor closes: their peers see
  /// the same as when the id is destroyed. Afterwards these ids can only be destroyed. A thread in
  /// get(), or one that calls it later, waits for ever: C programs such as rping leave threads
  /// there. Asynchronous waiters are called at once.
  void close();
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  [[nodiscard]] static EventChannel& from(rdma_event_channel* raw);
  [[nodiscard]] rdma_event_channel* raw() { return &raw_.channel; }

  /// Waits for the next event and returns it. Some events are consumed inside, so it may wait
  /// although fd() was readable. Errors: EAGAIN if fd() is non-blocking and there is none, EINTR
  /// for a signal, EDEADLK if the simulator knows that none will ever come.
  [[nodiscard]] Result<Event> get();
  /// Returns the next event if there is one, else EAGAIN.
  [[nodiscard]] Result<Event> try_get();
  /// Passes the next event to one of Asio's completion tokens. Callers must include
  /// cm/asio/async_get.h, which defines and describes it.
  template <class CompletionToken>
  auto async_get(CompletionToken&& token);
  /// Calls Id::notify for the id on this channel whose accept() named the event's QP, with its
  /// errors. ENOENT: no such id; EINVAL: not IBV_EVENT_COMM_EST.
  [[nodiscard]] Result<void> notify(const ibv_async_event& event);
  /// A descriptor that is readable while events wait; -1 in the simulator.
  [[nodiscard]] int fd() const { return semaphore_->fd(); }

  [[nodiscard]] transport::Transport& transport() const { return transport_; }

 private:
  friend class EventWaiter;
  friend class Id;
  /// The C struct together with the way back to us.
  struct Raw {
    rdma_event_channel channel{};
    EventChannel* owner = nullptr;
  };

  EventChannel(transport::Transport& transport, std::unique_ptr<verbs::Semaphore> semaphore);

  /// Removes the oldest event, and does what librdmacm does when an event is fetched. Null: the
  /// event was consumed inside, or is gone.
  [[nodiscard]] EventRecord* fetch();
  [[nodiscard]] EventRecord* pop();

  // --- for Id, inside the critical section ------------------------------------------------------
  void push(EventRecord& record);
  /// Tells the transport's observer, if there is one.
  void observe(transport::EventObserver::Step step, const EventRecord& record) const;
  /// Takes the unfetched events charged to `id` out of the queue: those of one of its multicast
  /// groups, or with null all.
  void extract(Id& id, const Membership* group, EventQueue& out);

  // --- event_waiter.cc, inside the critical section ---------------------------------------------
  /// Calls waiters until every event has one on its way to it, or none waits.
  void call_waiters();
  void dismiss_waiters();

  Raw raw_;
  transport::Transport& transport_;
  std::unique_ptr<verbs::Semaphore> semaphore_;
  EventPool* pool_;
  EventQueue queue_;
  /// Units of the semaphore without an event, because the event was removed after a thread took the
  /// unit.
  std::size_t missing_units_ = 0;
  EventWaiters waiting_;  ///< first come, first called
  EventWaiters called_;   ///< on their way to an event
  bool closed_ = false;
  Id* first_id_ = nullptr;  ///< the ids on this channel, oldest first
  Id* last_id_ = nullptr;
};

}  // namespace anyrdma::cm
