#include "sim/findings.h"

#include "sim/trace/hash.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

thread_local Findings* current = nullptr;

}  // namespace

Findings::Findings(bool covers) : coverage_(covers ? std::make_unique<Coverage>() : nullptr) {
  CM_ASSERT(current == nullptr);
  current = this;
}

Findings::~Findings() {
  current = nullptr;
}

std::vector<Reached> Findings::reached() const {
  return coverage_ == nullptr ? std::vector<Reached>() : coverage_->reached();
}

Coverage* coverage_of_run() {
  return current == nullptr ? nullptr : current->coverage_.get();
}

void sometimes(std::string_view situation, bool occurred) {
  if (current == nullptr) return;
  auto& situations = current->situations_;
  situations.try_emplace(std::string(situation), false).first->second |= occurred;
  if (occurred && current->coverage_ != nullptr)
    current->coverage_->add_milestone(mix(hash_text("sometimes"), hash_text(situation)));
}

bool being_explored() {
  return current != nullptr;
}

bool complain(std::string_view problem) {
  if (current == nullptr) return false;
  (current->problems_ += problem) += '\n';
  return true;
}

}  // namespace anyrdma::sim
