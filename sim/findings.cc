#include "sim/findings.h"

#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

thread_local Findings* current = nullptr;

}  // namespace

Findings::Findings() {
  CM_ASSERT(current == nullptr);
  current = this;
}

Findings::~Findings() {
  current = nullptr;
}

void sometimes(std::string_view situation, bool occurred) {
  if (current == nullptr) return;
  auto& situations = current->situations_;
  situations.try_emplace(std::string(situation), false).first->second |= occurred;
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
