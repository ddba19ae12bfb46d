#include "sim/coverage.h"

#include "sim/schedule/scheduler.h"

namespace anyrdma::sim {

void Coverage::note(std::size_t bit) {
  seen_[bit] = true;
  const std::uint64_t decision = scheduler_ == nullptr ? 0 : scheduler_->choices();
  reached_.push_back({static_cast<std::uint32_t>(bit), decision});
}

}  // namespace anyrdma::sim
