#include "cm/event_waiter.h"

#include "cm/event_channel.h"
#include "verbs/assert.h"

namespace anyrdma::cm {

void EventWaiter::wait(EventChannel& channel) {
  CM_ASSERT(channel_ == nullptr);
  verbs::CriticalSection section(channel.transport().runtime());
  called_ = false;
  cancelled_ = false;
  if (channel.closed_) return on_ready();
  channel_ = &channel;
  channel.waiting_.push_back(*this);
  channel.call_waiters();
}

void EventWaiter::cancel() {
  if (channel_ == nullptr) return;
  verbs::CriticalSection section(channel_->transport().runtime());
  cancelled_ = true;
  if (called_) return;  // take() finds out
  channel_->waiting_.erase(EventWaiters::s_iterator_to(*this));
  channel_ = nullptr;
  on_ready();
}

Result<Event> EventWaiter::take() {
  if (channel_ == nullptr) return verbs::errno_code(ECANCELED);
  EventChannel& channel = *channel_;
  Result<Event> event = channel.try_get();
  verbs::CriticalSection section(channel.transport().runtime());
  channel.called_.erase(EventWaiters::s_iterator_to(*this));
  called_ = false;
  const bool waits_again = !event && !cancelled_;
  if (waits_again) {
    channel.waiting_.push_front(*this);
  } else {
    channel_ = nullptr;
  }
  channel.call_waiters();  // perhaps this one, which may be gone afterwards
  if (event || waits_again) return event;
  return verbs::errno_code(ECANCELED);
}

EventWaiter::~EventWaiter() {
  if (channel_ == nullptr) return;
  verbs::CriticalSection section(channel_->transport().runtime());
  EventWaiters& list = called_ ? channel_->called_ : channel_->waiting_;
  list.erase(EventWaiters::s_iterator_to(*this));
  channel_->call_waiters();
}

// --- the channel's side -------------------------------------------------------------------------

void EventChannel::call_waiters() {
  while (!waiting_.empty() && called_.size() < queue_.size()) {
    EventWaiter& waiter = waiting_.front();
    waiting_.pop_front();
    called_.push_back(waiter);
    waiter.called_ = true;
    waiter.on_ready();
  }
}

void EventChannel::dismiss_waiters() {
  called_.clear_and_dispose([](EventWaiter* waiter) { waiter->channel_ = nullptr; });
  waiting_.clear_and_dispose([](EventWaiter* waiter) {
    waiter->channel_ = nullptr;
    waiter->on_ready();
  });
}

}  // namespace anyrdma::cm
