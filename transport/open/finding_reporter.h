// Reports the mistakes that a device finds, where a world listens: see
// transport/fault/plan/finding_call.h.
#pragma once

#include "verbs/runtime.h"
#include "verbs/soft/ownership/finding.h"

namespace anyrdma::transport {

/// Of a process on a simulated host. Any thread.
class FindingReporter final : public verbs::soft::OwnershipSink {
 public:
  /// `stacks`: those of postings are kept.
  explicit FindingReporter(bool stacks) : stacks_(stacks) {}

  void on_finding(const verbs::soft::OwnershipFinding& finding) override;
  std::size_t capture(std::span<void*> frames) override;
  verbs::Runtime::Mark mark() override;
  std::string describe(const verbs::Runtime::Mark& mark) override;
  void watch_memory(verbs::LostMemory& lost, std::uint64_t begin, std::uint64_t end) override;
  void forget_memory(verbs::LostMemory& lost) override;
  void on_owed(const verbs::Runtime::Owed& owed) override;
  void on_paid() override;

 private:
  const bool stacks_;
};

}  // namespace anyrdma::transport
