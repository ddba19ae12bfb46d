#include "cm/event_channel.h"

#include "cm/id.h"
#include "verbs/assert.h"

namespace anyrdma::cm {

Result<std::unique_ptr<EventChannel>> EventChannel::create(transport::Transport& transport) {
  {
    verbs::CriticalSection section(transport.runtime());
    if (!transport.has_had_devices()) return verbs::errno_code(ENODEV);
    if (verbs::CallGate* gate = transport.call_gate(); gate != nullptr) {
      const int error = gate->on_call(0, "create_event_channel");
      if (error != 0) return verbs::errno_code(error);
    }
  }
  auto semaphore = transport.runtime().make_semaphore();
  if (!semaphore) return semaphore.error();
  (*semaphore)->set_purpose("an event on an event channel");
  return std::unique_ptr<EventChannel>(new EventChannel(transport, std::move(*semaphore)));
}

EventChannel::EventChannel(transport::Transport& transport,
                           std::unique_ptr<verbs::Semaphore> semaphore)
    : transport_(transport),
      semaphore_(std::move(semaphore)),
      pool_(new EventPool(transport.runtime())) {
  raw_.owner = this;
  raw_.channel.fd = semaphore_->fd();
  if (transport_.call_observer() != nullptr) transport_.call_observer()->on_channels(1);
}

void EventChannel::close() {
  EventQueue dropped;
  bool was_open = false;
  {
    verbs::CriticalSection section(transport_.runtime());
    was_open = !closed_;
    while (first_id_ != nullptr) first_id_->orphan(dropped);
    CM_ASSERT(queue_.empty());
    closed_ = true;
    dismiss_waiters();
  }
  Id::discard(transport_.runtime(), dropped);
  if (was_open && transport_.call_observer() != nullptr)
    transport_.call_observer()->on_channels(-1);
}

EventChannel::~EventChannel() {
  close();
  verbs::CriticalSection section(transport_.runtime());
  EventPool::abandon(pool_);
}

EventChannel& EventChannel::from(rdma_event_channel* raw) {
  return *reinterpret_cast<Raw*>(raw)->owner;  // channel is Raw's first member
}

Result<Event> EventChannel::get() {
  for (;;) {
    if (Result<void> unit = semaphore_->wait(); !unit) return unit.error();
    if (EventRecord* record = fetch()) return Event(*record);
  }
}

Result<Event> EventChannel::try_get() {
  while (semaphore_->try_wait()) {
    if (EventRecord* record = fetch()) return Event(*record);
  }
  return verbs::errno_code(EAGAIN);
}

EventRecord* EventChannel::fetch() {
  if (transport_.call_gate() != nullptr) transport_.call_gate()->on_take();
  EventRecord* record = pop();
  if (record == nullptr) return nullptr;
  if (Id::from(record->raw.event.id).on_fetch(*record)) {
    record->shown = true;
    observe(transport::EventObserver::Step::kFetched, *record);
    return record;
  }
  (void)Id::acknowledge(*record);  // which nobody has shown to anybody: it is no mistake
  return nullptr;
}

EventRecord* EventChannel::pop() {
  verbs::CriticalSection section(transport_.runtime());
  if (queue_.empty()) {
    if (missing_units_ > 0) --missing_units_;
    return nullptr;
  }
  EventRecord& record = queue_.front();
  queue_.pop_front();
  record.charged->charge(record);
  return &record;
}

void EventChannel::observe(transport::EventObserver::Step step, const EventRecord& record) const {
  transport::EventObserver* observer = transport_.event_observer();
  if (observer == nullptr || record.own) return;  // they follow what the transport does
  const rdma_cm_event& event = record.raw.event;
  const std::uint64_t listener = event.listen_id == nullptr ? 0 : Id::from(event.listen_id).number_;
  observer->on_event(step, Id::from(event.id).number_, listener, event);
}

void EventChannel::push(EventRecord& record) {
  record.charged->unfetched_.push_back(record);
  queue_.push_back(record);
  if (missing_units_ > 0) {
    --missing_units_;  // a fetcher is on its way with a unit whose event is gone
  } else {
    semaphore_->post();
  }
  call_waiters();
}

void EventChannel::extract(Id& id, const Membership* group, EventQueue& out) {
  id.unfetched_.remove_and_dispose_if(
      [group](const EventRecord& record) { return group == nullptr || record.membership == group; },
      [&](EventRecord* record) {
        queue_.erase(EventQueue::s_iterator_to(*record));
        if (!semaphore_->try_wait()) ++missing_units_;
        out.push_back(*record);
      });
}

}  // namespace anyrdma::cm
