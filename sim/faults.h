// The fault plan of a running world: which faults wait for what, and which have fired.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/fault_plan.h"
#include "sim/scheduler.h"
#include "transport/soft/transport.h"

namespace anyrdma::sim {

class Host;
class World;

/// A fault and what became of it.
struct FaultStatus {
  Fault fault;
  std::uint32_t planned = 1;  ///< how often it can fire; kAll: as often as it happens
  std::uint32_t fired = 0;
};

/// Owned by the World. Faults are counted from the moment of their injection.
class Faults {
 public:
  explicit Faults(World& world);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// Adds faults to those there are. Refused as a whole when one names a host, device or interface
  /// that does not exist, or makes no sense; `line` counts the faults of the plan from 1.
  [[nodiscard]] PlanResult<void> inject(const FaultPlan& plan);
  /// In the order of injection.
  [[nodiscard]] std::vector<FaultStatus> status() const;
  /// Those that have not happened at all: a test that planned them tested nothing.
  [[nodiscard]] std::vector<Fault> unfired() const;

  // --- for the simulator ------------------------------------------------------------------------
  [[nodiscard]] bool watches_messages() const { return watching_messages_; }
  /// A CM message leaves a host. True: it is to be lost.
  [[nodiscard]] bool on_message(const Host& from, const Host& to, std::uint16_t attribute);
  [[nodiscard]] std::optional<transport::soft::Admission::Refusal> on_request(const Host& host);

 private:
  class Planned;
  [[nodiscard]] std::string problem_here(const Fault& fault) const;
  [[nodiscard]] std::string problem_with_names(const Trigger& trigger) const;
  void fire(Planned& planned);
  void carry_out(const FaultAction& action);

  World& world_;
  std::vector<std::unique_ptr<Planned>> planned_;
  bool watching_messages_ = false;
};

}  // namespace anyrdma::sim
