#include "verbs/soft/ownership/queue_account.h"

#include <algorithm>

namespace anyrdma::verbs::soft {

std::size_t SendAccount::on_posted(bool signaled) {
  ++posted_;
  if (signaled) last_signaled_ = posted_;
  return posted_;
}

void SendAccount::on_polled(std::size_t number) {
  polled_ = std::max(polled_, number);
}

bool SendAccount::has_no_way_out(bool refused) {
  const std::size_t wanted = since_polled() + (refused ? 1 : 0);
  if (told_ || last_signaled_ > polled_ || wanted <= depth_) return false;
  told_ = true;
  return true;
}

bool ReceiveAccount::on_dry() {
  if (dry_) return false;
  dry_ = true;
  return droughts_++ < kDroughtsTold;
}

std::optional<ReceiveAccount::Used> ReceiveAccount::last(std::size_t n) const {
  if (n >= count_ || n >= kKept) return std::nullopt;
  return used_[(count_ - 1 - n) % kKept];
}

bool CompletionQueueAccount::on_attached(const ibv_cq* cq, std::uint32_t depth) {
  if (cq == nullptr || depth == 0) return false;
  Due& due = queues_[cq];
  due.most += depth;
  if (due.told || due.most <= static_cast<std::uint64_t>(cq->cqe)) return false;
  due.told = true;
  return true;
}

void CompletionQueueAccount::on_detached(const ibv_cq* cq, std::uint32_t depth) {
  const auto found = queues_.find(cq);
  if (found != queues_.end())
    found->second.most -= std::min<std::uint64_t>(found->second.most, depth);
}

std::uint64_t CompletionQueueAccount::most(const ibv_cq& cq) const {
  const auto found = queues_.find(&cq);
  return found == queues_.end() ? 0 : found->second.most;
}

}  // namespace anyrdma::verbs::soft
