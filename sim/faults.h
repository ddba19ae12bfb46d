// The fault plan of a running world: waiting and fired faults.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fault_plan.h"
#include "sim/interfaces.h"
#include "sim/schedule/scheduler.h"
#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/question.h"
#include "transport/fault/plan/triggers.h"
#include "transport/soft/transport.h"
#include "verbs/packet_gate.h"
#include "verbs/soft/packet.h"

namespace anyrdma::sim {

class Host;
class World;

using fault::FaultStatus;
using verbs::Mishap;

/// Injects faults into a world, which owns this object. Occurrences are counted from the injection
/// on. A fault takes effect at the instant of its trigger, after all ready programs have run. The
/// world's seed decides the random parts of a plan (fault::resolved) at the injection. A fault
/// without effect, such as a crash of a host that is off, is not ended either.
class Faults : private fault::FaultDriver {
 public:
  explicit Faults(World& world);
  ~Faults() override;
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  /// Injects further faults. Returns an error, and injects no fault, if a fault is invalid or names
  /// a host, device or interface that does not exist. `line` in the error counts the faults of the
  /// plan from 1.
  [[nodiscard]] PlanResult<void> inject(const FaultPlan& plan);
  /// Checks a plan: returns what inject() would return, and injects nothing.
  [[nodiscard]] PlanResult<void> check(const FaultPlan& plan) const;
  /// Ends fault injection. Effects of faults that have happened stay, also those with an end.
  void end();
  /// Whether a host that is off will be restarted by a fault at a known time, or may be restarted
  /// by another fault.
  [[nodiscard]] bool will_restart(std::string_view host) const;
  [[nodiscard]] bool may_restart(std::string_view host) const;
  /// In the order of injection.
  [[nodiscard]] std::vector<FaultStatus> status() const { return triggers_.status(); }
  /// All of status() as text, a line each.
  [[nodiscard]] std::string report() const;
  /// Returns the injected faults that have not happened, except optional ones (Fault::maybe). A
  /// test should expect none: if a planned fault did not happen, its effect was not tested.
  [[nodiscard]] std::vector<Fault> unfired() const;

  // --- for the simulator ------------------------------------------------------------------------
  [[nodiscard]] bool watches_packets() const { return watching_packets_; }
  [[nodiscard]] bool watches_events() const { return watching_events_; }
  [[nodiscard]] bool watches_calls() const { return watching_calls_; }
  [[nodiscard]] bool watches_gate() const { return watching_gate_; }
  /// Returns what processes on the hosts must report to the simulator, for the faults injected so
  /// far.
  [[nodiscard]] fault::Oversight oversight() const;
  /// Called for each packet that leaves a host. The function may change the packet, and returns
  /// what happens to it. `passes`: the path between the hosts is not down.
  [[nodiscard]] Mishap on_packet(const Interfaces::Place& from, const Interfaces::Place& to,
                                 verbs::soft::Packet& packet, bool passes);
  [[nodiscard]] std::optional<transport::soft::Admission::Refusal> on_request(const Host& host);
  void on_event(const Host& host, transport::EventObserver::Step step, std::uint64_t id,
                rdma_cm_event_type type);
  void on_call(const Host& host, std::uint64_t id, std::string_view call);
  /// As verbs::CallGate.
  [[nodiscard]] int on_gate(const Host& host, std::uint64_t id, std::string_view call);
  [[nodiscard]] ibv_wc_status on_work(const Host& host, const verbs::PostedWork& work);
  void on_failure(const ibv_wc& completion);
  void on_state(const Host& host, std::uint64_t id, std::string_view state);
  /// Returns the errno with which an address resolution on the host must fail; 0: no fault.
  [[nodiscard]] int on_resolving(const Host& host);
  /// Returns the errno with which a route resolution must fail (ETIMEDOUT: after its timeout); 0:
  /// no fault.
  [[nodiscard]] int on_routing(const Host& host);
  /// A fiber has found that no packets pass.
  void on_dead_rail(const Host& host, std::string_view interface);
  void on_dead_path(const Host& from, const Host& to);

 private:
  class Planned;
  [[nodiscard]] std::string problem_here(const Fault& fault) const;
  void watch_for(Planned& planned);
  [[nodiscard]] bool is_over(const fault::Arming& fault) const override;
  /// After the critical section, with no program running.
  void pull(fault::Arming& fault) override;
  void on_fired(fault::Arming& fault) override;
  /// In trace and recording.
  void tell(const std::string& text, const fault::FaultAction& action);

  World& world_;
  std::vector<std::unique_ptr<Planned>> planned_;
  fault::Triggers triggers_{*this};
  const verbs::soft::Packet* packet_ = nullptr;  ///< that leaves a host now
  bool watching_packets_ = false;
  bool watching_events_ = false;
  bool watching_calls_ = false;
  bool watching_gate_ = false;
};

}  // namespace anyrdma::sim
