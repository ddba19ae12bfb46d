// How destroy, migrate and leave_multicast wait for the events that were fetched (L/cma.c: the
// kernel tells how many there were, and librdmacm counts those that were acknowledged).
#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "cm/event_record.h"
#include "cm/id.h"
#include "transport/event_name.h"
#include "verbs/misuse.h"

namespace anyrdma::cm {

void Id::charge(EventRecord& record) {
  unfetched_.erase(ChargedEvents::s_iterator_to(record));
  ++ledger_.fetched;
  if (record.membership != nullptr) ++record.membership->held;
  record.fetched = true;
  record.fetcher = runtime().mark();
  record.charged_number = number_;
  fetched_.push_back(record);
  if (record.raw.event.event != RDMA_CM_EVENT_CONNECT_REQUEST) return;
  if (endpoint_ == nullptr) return;
  endpoint_->on_request_fetched();
  runtime().call_driver();  // a request may wait for the room
}

// What was given back, or is on its way to somebody else by now, is nobody's to acknowledge. The
// record is still there as long as the channel is, or another of its events.
Result<void> Id::refuse_acknowledgement(const EventRecord& record) {
  verbs::Runtime& runtime = record.pool->runtime();
  std::string what(transport::short_event_name(record.raw.event.event));
  what += " status " + std::to_string(record.raw.event.status) + " was acknowledged already";
  const std::string fetched = runtime.describe(record.fetcher);
  if (!fetched.empty()) what += "; it was fetched " + fetched;
  verbs::report_misuse(runtime,
                       {"rdma_ack_cm_event", "id " + std::to_string(record.charged_number), what});
  return verbs::errno_code(EINVAL);
}

Result<void> Id::acknowledge(EventRecord& record) {
  if (!record.fetched) return refuse_acknowledgement(record);
  record.request.reset();  // nobody took it: rejected; enters the critical section
  verbs::CriticalSection section(record.pool->runtime());
  if (Id* id = record.charged; id != nullptr) {
    id->fetched_.erase(EventQueue::s_iterator_to(record));
    ++id->ledger_.acknowledged;
    transport::EventObserver* const observer = id->transport_.event_observer();
    if (observer != nullptr && record.shown && !record.own) observer->on_acknowledged(id->number_);
    if (record.membership != nullptr) --record.membership->held;
    // Posted inside: whoever waits enters the section before it frees the id.
    if (id->waiting_ && id->is_drained()) id->acknowledged_->post();
  }
  EventPool::give_back(record);
  return {};
}

bool Id::is_drained() const {
  if (qp_going_) return qp_holds_ == 0;
  return leaving_ == nullptr ? fetched_.empty() : leaving_->held == 0;
}

// Whether the calling thread has fetched all that it would wait for.
bool Id::owes_itself() const {
  const std::uint64_t self = runtime().mark().who;
  return self != 0 && std::ranges::all_of(fetched_, [&](const EventRecord& record) {
           return (leaving_ != nullptr && record.membership != leaving_) ||
                  record.fetcher.who == self;
         });
}

Result<void> Id::drain(const char* purpose) {
  bool told = false;
  const Result<void> drained = drain(purpose, told);
  if (told) runtime().on_paid();
  return drained;
}

Result<void> Id::drain(const char* purpose, bool& told) {
  for (;;) {
    std::optional<verbs::Runtime::Owed> owed;
    {
      verbs::CriticalSection section(runtime());
      if (is_drained()) {
        waiting_ = false;
        return {};
      }
      waiting_ = acknowledged_ != nullptr;
      if (waiting_ && !qp_going_ && !std::exchange(told, true))
        owed = {.events = debts(), .own = owes_itself()};
    }
    if (acknowledged_ == nullptr) {
      auto semaphore = runtime().make_semaphore();
      if (!semaphore) return semaphore.error();
      acknowledged_ = std::move(*semaphore);
      acknowledged_->set_details([this] { return debts(); });
      continue;
    }
    acknowledged_->set_purpose(purpose);
    if (owed) runtime().on_owed(*owed);
    const Result<void> woken = acknowledged_->wait();
    if (!woken && woken.error() != verbs::errno_code(EINTR)) return woken;
  }
}

std::string Id::debts() const {
  std::string text;
  for (const EventRecord& record : fetched_) {
    if (leaving_ != nullptr && record.membership != leaving_) continue;
    const rdma_cm_event& event = record.raw.event;
    text += "  id " + std::to_string(number_) + ": ";
    text += transport::short_event_name(event.event);
    text += " status " + std::to_string(event.status) + ", fetched ";
    text += runtime().describe(record.fetcher) + ", not acknowledged\n";
  }
  return text;
}

void Id::forgive() {
  verbs::CriticalSection section(runtime());
  fetched_.clear_and_dispose([](EventRecord* record) {
    record->charged = nullptr;
    record->membership = nullptr;
  });
}

// The event that one id shows may be charged to another, its listener.
void Id::forgive_all(std::span<Id* const> ids) {
  for (Id* id : ids) {
    if (id->private_channel_ != nullptr) id->private_channel_->forget();
  }
  for (Id* id : ids) {
    while (!id->fetched_.empty()) (void)acknowledge(id->fetched_.front()).has_value();
  }
}

Result<void> Id::drain(const Membership& leaving) {
  {
    verbs::CriticalSection section(runtime());
    leaving_ = &leaving;
  }
  Result<void> drained = drain("the acknowledgement of a multicast group's events, to leave it");
  verbs::CriticalSection section(runtime());
  leaving_ = nullptr;
  for (EventRecord& record : fetched_) {
    if (record.membership == &leaving) record.membership = nullptr;
  }
  return drained;
}

}  // namespace anyrdma::cm
