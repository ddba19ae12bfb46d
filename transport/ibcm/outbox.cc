#include "transport/ibcm/outbox.h"

#include "verbs/assert.h"

namespace anyrdma::ibcm {

void Outbox::call_driver() {
  if (runtime_ != nullptr) runtime_->call_driver();
}

void Outbox::pop() {
  CM_ASSERT(size_ > 0);
  actions_.give_back(*ring_[first_]);
  first_ = slot(1);
  --size_;
}

Action& Outbox::push() {
  call_driver();
  if (size_ == ring_.size()) grow();
  Action& action = actions_.take();
  ring_[slot(size_++)] = &action;
  return action;
}

void Outbox::grow() {
  std::vector<Action*> larger(ring_.size() * 2);
  for (std::size_t i = 0; i < size_; ++i) larger[i] = ring_[slot(i)];
  ring_ = std::move(larger);
  first_ = 0;
}

}  // namespace anyrdma::ibcm
