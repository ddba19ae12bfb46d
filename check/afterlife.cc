#include "check/afterlife.h"

namespace anyrdma::check {

void Afterlife::on_bound(const IdName& id, const std::string& device, std::uint32_t qp) {
  bound_[{device, qp}] = id;
  dead_.erase(id);
}

void Afterlife::on_ready_to_send(const std::string& device, std::uint32_t qp) {
  const auto found = bound_.find({device, qp});
  if (found == bound_.end() || !dead_.contains(found->second)) return;
  violations_.add("afterlife", device + " QP " + std::to_string(qp) + ": is in RTS although " +
                                   found->second.to_string() + " is over");
  bound_.erase(found);
}

}  // namespace anyrdma::check
