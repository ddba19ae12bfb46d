#include "verbs/soft/completion_queue.h"

#include <pthread.h>

#include <algorithm>

#include "verbs/soft/context.h"
#include "verbs/soft/ownership.h"

namespace anyrdma::verbs::soft {

SoftCq::SoftCq(SoftContext& owner, int depth, void* user, SoftChannel* announced_by)
    : room_(static_cast<std::size_t>(depth)) {
  context = owner.ibv();
  channel = announced_by;
  cq_context = user;
  cqe = depth;
  handle = owner.core().handles.add(*this);
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  if (announced_by != nullptr) ++announced_by->refcnt;
}

SoftCq::~SoftCq() {
  Ownership* const ownership = SoftContext::from(context).core().ownership;
  if (ownership != nullptr) ownership->on_closing(*this);
  TimerQueue<QpTimerTag>& timers = SoftContext::from(context).core().timers;
  timers.cancel(lost_);
  timers.cancel(held_back_);
  if (channel != nullptr) {
    auto* soft = static_cast<SoftChannel*>(channel);
    --soft->refcnt;
    const std::size_t gone = soft->announced.remove_if([this](SoftCq* cq) { return cq == this; });
    // A waiter may have taken a unit already: it finds nothing and waits again.
    for (std::size_t i = 0; i < gone; ++i) soft->semaphore->try_wait();
  }
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
}

// Its oldest completion is lost, or the new one and all that follow.
bool SoftCq::make_room() {
  if (!options_.overwrites || is_overrun()) {
    Ownership* const ownership = SoftContext::from(context).core().ownership;
    if (ownership != nullptr && !is_overrun()) ownership->on_overrun(*this, made);
    overrun();
    return false;
  }
  dropped_ = true;
  entries_.front().frees.release();
  entries_.drop_front();
  if (options_.timestamps) instants_.pop_front();
  return true;
}

void SoftCq::note_instant() {
  instants_.push_back(SoftContext::from(context).core().runtime.now());
}

void SoftCq::set_moderation(const Moderation& moderation) {
  moderation_ = moderation;
  if (held_ != 0) announce();  // by whatever rule it has waited
}

void SoftCq::announce_in_time(bool solicited) {
  if (armed_ == Armed::kSolicited && !solicited) return;
  ++held_;
  const auto& [count, period] = moderation_;
  const bool waits = period != Duration{} || count > 1;
  if (!waits || (count != 0 && held_ >= count)) return announce();
  if (period == Duration{} || held_back_.armed()) return;
  Core& core = SoftContext::from(context).core();
  core.timers.arm(held_back_, core.runtime.now() + period);
  core.runtime.call_driver();
}

// A timer that expires at once moves the QPs: the caller that pushes is in the middle of one.
void SoftCq::overrun() {
  if (is_overrun()) return;
  room_ = 0;
  SoftContext& owner = SoftContext::from(context);
  owner.raise_cq(*this, IBV_EVENT_CQ_ERR);
  owner.core().timers.arm(lost_, owner.core().runtime.now());
  owner.core().runtime.call_driver();
}

int SoftCq::poll(int count, ibv_wc* completions) {
  ++polls;
  const int taken_now = static_cast<int>(
      std::min<std::size_t>(entries_.size(), static_cast<std::size_t>(std::max(count, 0))));
  for (int i = 0; i < taken_now; ++i) {
    const Entry& oldest = entries_.front();
    completions[i] = oldest.completion;
    oldest.frees.release();
    entries_.drop_front();
  }
  Ownership* const ownership =
      taken_now == 0 ? nullptr : SoftContext::from(context).core().ownership;
  if (ownership != nullptr) [[unlikely]] {
    for (int i = 0; i < taken_now; ++i) ownership->on_polled(completions[i]);
  }
  if (options_.timestamps) {
    for (int i = 0; i < taken_now; ++i) polling->completed = instants_.pop_front();
  }
  return taken_now;
}

bool SoftCq::resize(int depth) {
  const auto room = static_cast<std::size_t>(depth);
  if (room < entries_.size()) return false;
  cqe = depth;
  if (!is_overrun()) room_ = room;
  return true;
}

void SoftCq::request_notification(bool solicited_only) {
  // Asking again may only widen the request (IBTA vol 1, 11.4.2.2).
  if (!solicited_only) {
    armed_ = Armed::kAny;
  } else if (armed_ == Armed::kNo) {
    armed_ = Armed::kSolicited;
  }
}

void SoftCq::purge(std::uint32_t qp_num) {
  if (entries_.empty()) return;
  if (options_.timestamps) {
    std::size_t i = 0;
    instants_.remove_if([&](const Instant&) { return entries_[i++].completion.qp_num == qp_num; });
  }
  entries_.remove_if([qp_num](const Entry& entry) {
    if (entry.completion.qp_num != qp_num) return false;
    entry.frees.release();  // of a shared receive queue, which goes on
    return true;
  });
}

void SoftCq::forget_places(const std::uint32_t* freed) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].frees.freed == freed) entries_[i].frees = {};
  }
}

std::size_t SoftCq::waiting(std::uint32_t qp_num, bool received) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const ibv_wc& wc = entries_[i].completion;
    if (wc.qp_num == qp_num && ((wc.opcode & IBV_WC_RECV) != 0) == received) ++count;
  }
  return count;
}

void SoftCq::announce() {
  armed_ = Armed::kNo;
  held_ = 0;
  SoftContext::from(context).core().timers.cancel(held_back_);
  if (channel == nullptr) return;
  auto* soft = static_cast<SoftChannel*>(channel);
  soft->announced.push_back(this);
  soft->semaphore->post();
}

}  // namespace anyrdma::verbs::soft
