#include "check/afterlife.h"

namespace anyrdma::check {

void Afterlife::on_bound(const IdName& id, const std::string& device, std::uint32_t qp) {
  forget(device, qp);
  bound_[{device, qp}] = id;
  pairs_.emplace(id, QueuePair(device, qp));
  dead_.erase(id);
}

void Afterlife::forget(const std::string& device, std::uint32_t qp) {
  const auto found = bound_.find({device, qp});
  if (found == bound_.end()) return;
  const IdName& id = found->second;
  const auto [first, last] = pairs_.equal_range(id);
  for (auto pair = first; pair != last; ++pair) {
    if (pair->second != found->first) continue;
    pairs_.erase(pair);
    break;
  }
  if (!pairs_.contains(id)) dead_.erase(id);
  bound_.erase(found);
}

void Afterlife::on_dead(const IdName& id) {
  if (pairs_.contains(id)) dead_.insert(id);
}

void Afterlife::on_ready_to_send(const std::string& device, std::uint32_t qp) {
  const auto found = bound_.find({device, qp});
  if (found == bound_.end() || !dead_.contains(found->second)) return;
  violations_.add("afterlife", device + " QP " + std::to_string(qp) + ": is in RTS although " +
                                   found->second.to_string() + " is over");
  forget(device, qp);
}

}  // namespace anyrdma::check
