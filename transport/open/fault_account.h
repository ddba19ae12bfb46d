// What became of a plan's faults, kept where it outlives the processes that it happened to: a
// program that is killed cannot tell any more. `anyrdma run` keeps it, its program's processes
// write.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/shared_memory.h"
#include "verbs/result.h"

namespace anyrdma::transport {

/// Memory that several processes have in common. Threads: all functions may be called by any.
class FaultAccount {
 public:
  /// For a plan of so many faults. ENOSYS, EMFILE, ENOMEM.
  [[nodiscard]] static verbs::Result<std::unique_ptr<FaultAccount>> create(std::size_t faults);
  /// The one that another process created for a plan of so many faults and still holds; `name` is
  /// its name(). EINVAL: no such name, or what it names is none; else as open(2).
  [[nodiscard]] static verbs::Result<std::unique_ptr<FaultAccount>> attach(const std::string& name,
                                                                           std::size_t faults);

  /// For attach(); valid while its creator holds it.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// One process more has opened a device with the plan.
  void join();
  [[nodiscard]] std::uint32_t processes() const;

  /// What one process has counted; it is added to what the others have.
  class Share {
   public:
    /// `account` outlives it.
    explicit Share(FaultAccount& account) : account_(account), counted_(account.faults_) {}
    /// `status` is what has become of the n-th fault in this process until now. One at a time.
    void count(std::size_t index, const fault::FaultStatus& status);

   private:
    using Counts = std::array<std::uint32_t, 3>;
    FaultAccount& account_;
    std::vector<Counts> counted_;
  };

  /// All processes together, in the order of `plan`, which has as many faults.
  [[nodiscard]] std::vector<fault::FaultStatus> status(const fault::FaultPlan& plan) const;

 private:
  FaultAccount(realtime::SharedMemory memory, realtime::Descriptor held, std::size_t faults,
               std::string name);

  realtime::SharedMemory memory_;
  realtime::Descriptor held_;  ///< by its creator: what name() leads to
  std::size_t faults_;
  std::string name_;
};

/// The account in words, for stderr, and whether it is one to be content with.
struct FaultReport {
  std::string text;     ///< whole lines
  bool missed = false;  ///< a fault that is not a `maybe` did not happen
};

/// `processes`: of how many it is the sum.
[[nodiscard]] FaultReport report_of(const std::vector<fault::FaultStatus>& faults,
                                    const std::string& seed, std::uint32_t processes);

}  // namespace anyrdma::transport
