#include "check/work.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace anyrdma::check {
namespace {

constexpr std::string_view kWork = "work";

/// The software HCA says so in every completion; others only in successful ones.
bool is_receive(const ibv_wc& completion) {
  return (completion.opcode & IBV_WC_RECV) != 0;
}

std::string text_of(const ibv_wc& completion) {
  return std::string(is_receive(completion) ? "receive " : "send ") +
         std::to_string(completion.wr_id) + " (status " + std::to_string(completion.status) + ")";
}

}  // namespace

void Work::violation(std::uint32_t qp, const std::string& text) {
  violations_.add(kWork, device_ + " QP " + std::to_string(qp) + ": " + text);
}

void Work::on_opened(std::uint32_t qp, Receives receives, std::uint64_t srq) {
  queues_.erase(qp);
  Queues& queues = queues_[qp];
  queues.open = true;
  queues.from = receives;
  queues.srq = srq;
}

void Work::on_send(std::uint32_t qp, std::uint64_t wr_id, bool signaled) {
  Queues& queues = queues_[qp];
  queues.sends.push_back({wr_id, signaled});
  if (!queues.early.empty()) settle(qp, queues);
}

void Work::on_receive(std::uint32_t qp, std::uint64_t wr_id) {
  Queues& queues = queues_[qp];
  queues.receives.push_back(wr_id);
  if (!queues.early.empty()) settle(qp, queues);
}

void Work::on_shared_receive(std::uint64_t srq, std::uint64_t wr_id) {
  shared_[srq].push_back(wr_id);
  for (auto& [qp, queues] : queues_) {
    if (queues.from != Receives::kOwn && !queues.early.empty()) settle(qp, queues);
  }
}

// --- completions --------------------------------------------------------------------------------

bool Work::is_early(Queues& queues, const ibv_wc& completion) {
  if (!late_) return false;
  const auto of_sends = [&](const Send& send) { return send.wr_id == completion.wr_id; };
  const bool posted =
      !is_receive(completion) ? std::ranges::any_of(queues.sends, of_sends)
      : queues.from == Receives::kOwn
          ? std::ranges::find(queues.receives, completion.wr_id) != queues.receives.end()
          : false;
  if (!posted) queues.early.push_back(completion);
  return !posted;
}

/// Something was posted: perhaps what has completed before.
void Work::settle(std::uint32_t qp, Queues& queues) {
  for (const ibv_wc& each : std::exchange(queues.early, {})) {
    if (is_receive(each)) {
      on_received(qp, queues, each, false);
    } else {
      on_sent(qp, queues, each, false);
    }
  }
}

void Work::judge_early(std::uint32_t qp, Queues& queues) {
  for (const ibv_wc& each : std::exchange(queues.early, {}))
    violation(qp, text_of(each) + " completed, but was not posted");
}

void Work::finish() {
  for (auto& [qp, queues] : queues_) judge_early(qp, queues);
}

void Work::on_polled(const ibv_wc& completion, bool dropped) {
  const auto found = queues_.find(completion.qp_num);
  if (found == queues_.end() || !found->second.open) {
    return violation(completion.qp_num,
                     text_of(completion) + " completed, but there is no such QP");
  }
  Queues& queues = found->second;
  if (is_receive(completion)) {
    on_received(completion.qp_num, queues, completion, dropped);
  } else {
    on_sent(completion.qp_num, queues, completion, dropped);
  }
}

void Work::on_sent(std::uint32_t qp, Queues& queues, const ibv_wc& completion, bool dropped) {
  const bool failed = completion.status != IBV_WC_SUCCESS;
  auto& sends = queues.sends;
  auto match = sends.begin();
  if (unordered_) {
    const auto found = std::ranges::find(sends, completion.wr_id, &Send::wr_id);
    queues.failed = queues.failed || failed;
    if (found != sends.end()) {
      sends.erase(found);
      return;
    }
  }
  // Those before it that were not signaled have completed in silence, as long as all goes well.
  const auto is_it = [&](const Send& send) {
    return send.wr_id == completion.wr_id && (send.signaled || failed);
  };
  const auto may_be_missing = [&](const Send& send) {
    return dropped || (!send.signaled && !queues.failed);
  };
  while (match != sends.end() && !is_it(*match) && may_be_missing(*match)) ++match;
  queues.failed = queues.failed || failed;
  if (match != sends.end() && is_it(*match)) {
    sends.erase_before(match + 1);
    return;
  }
  if (is_early(queues, completion)) return;
  const std::string next = sends.empty() ? "nothing" : std::to_string(sends.front().wr_id);
  violation(qp, text_of(completion) + " completed, but next is " + next);
}

void Work::on_received(std::uint32_t qp, Queues& queues, const ibv_wc& completion, bool dropped) {
  if (queues.from == Receives::kOwn) {
    while (dropped && !queues.receives.empty() && queues.receives.front() != completion.wr_id) {
      queues.receives.pop_front();
    }
    if (!queues.receives.empty() && queues.receives.front() == completion.wr_id) {
      return queues.receives.pop_front();
    }
    const auto found = std::ranges::find(queues.receives, completion.wr_id);
    if (unordered_ && found != queues.receives.end()) {
      queues.receives.erase(found);
      return;
    }
    if (is_early(queues, completion)) return;
    const std::string next =
        queues.receives.empty() ? "nothing" : std::to_string(queues.receives.front());
    return violation(qp, text_of(completion) + " completed, but next is " + next);
  }
  if (take_shared(queues, completion.wr_id) || is_early(queues, completion)) return;
  violation(qp, text_of(completion) + " completed, but was not posted to its shared queue");
}

bool Work::take_shared(const Queues& queues, std::uint64_t wr_id) {
  const auto take = [wr_id](std::deque<std::uint64_t>& posted) {
    const auto match = std::find(posted.begin(), posted.end(), wr_id);
    if (match == posted.end()) return false;
    posted.erase(match);
    return true;
  };
  if (queues.from == Receives::kShared) return take(shared_[queues.srq]);
  return std::any_of(shared_.begin(), shared_.end(),
                     [&take](auto& entry) { return take(entry.second); }) ||
         take(gone_);
}

void Work::on_closing(std::uint64_t srq, const SrqCensus& census) {
  audit_queue(srq, census);
  const auto found = shared_.find(srq);
  if (found == shared_.end()) return;
  gone_.insert(gone_.end(), found->second.begin(), found->second.end());
  shared_.erase(found);
}

// Some of what was posted is with queue pairs, or in completions that nobody has taken.
void Work::audit_queue(std::uint64_t srq, const SrqCensus& census) {
  const auto found = shared_.find(srq);
  const std::size_t posted = found == shared_.end() ? 0 : found->second.size();
  if (census.receives <= posted) return;
  violations_.add(kWork, device_ + ": a shared receive queue holds " +
                             std::to_string(census.receives) + " receives, of which only " +
                             std::to_string(posted) + " are not completed");
}

void Work::audit(std::uint32_t qp, const QpCensus& census) {
  Queues& queues = queues_[qp];
  if (census.overrun || queues.reported || unordered_) return;
  const auto signaled = static_cast<std::size_t>(std::count_if(
      queues.sends.begin(), queues.sends.end(), [](const Send& send) { return send.signaled; }));
  const std::size_t reports = census.sent + census.signaled_sends;
  const auto told = [](std::size_t a, std::size_t b) {
    return std::to_string(a) + " are not completed, and it has " + std::to_string(b);
  };
  if (reports < signaled || census.sent + census.sends > queues.sends.size()) {
    violation(qp, "of its sends " + told(signaled, reports));
    queues.reported = true;
  }
  const std::size_t receives = census.received + census.receives;
  if (queues.from == Receives::kOwn && receives != queues.receives.size()) {
    violation(qp, "of its receives " + told(queues.receives.size(), receives));
    queues.reported = true;
  }
  const bool dead = census.state == IBV_QPS_ERR;
  if (!dead || queues.reported || census.sends + census.receives == 0) return;
  violation(qp, "it is in ERR and " + std::to_string(census.sends + census.receives) +
                    " of its requests are not flushed");
  queues.reported = true;
}

void Work::on_discarding(std::uint32_t qp, const QpCensus& census, bool destroyed) {
  Queues& queues = queues_[qp];
  if (!queues.early.empty()) judge_early(qp, queues);
  audit(qp, census);
  discarded_ += queues.sends.size() + queues.receives.size();
  if (destroyed) {
    queues_.erase(qp);
    return;
  }
  queues.sends.clear();
  queues.receives.clear();
  queues.failed = false;
}

}  // namespace anyrdma::check
