// A transport that injects the faults of a plan. It is a layer between cm and any other transport.
// It rejects or drops requests, delays events, removes devices, and changes addresses. It does no
// I/O: the driver passes time and random numbers.
//
// A fault on a call, an event or posted work is carried out at the end of the same critical section
// (verbs::Runtime::enter), in the same thread. So no other thread sees the state in between, and
// the call returns only afterwards. If the driver (Ground) has no hook for that, the next
// on_timer() carries out the fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/ground.h"
#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/fault/plan/triggers.h"
#include "transport/transport.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"
#include "verbs/time.h"

namespace anyrdma::fault {

class FaultEndpoint;

/// The layer that asks the fault plan about connection requests.
enum class RequestsSeen : std::uint8_t {
  kHere,  ///< this transport, when the request arrives as an event

  /// The driver of the transport below, before the request arrives here: see next_refusal().
  kBelow,
};

class FaultTransport final : public transport::Transport,
                             private transport::EventObserver,
                             private transport::CallObserver,
                             private verbs::CallGate,
                             private verbs::PacketGate,
                             private FaultDriver {
 public:
  /// Creates the transport. `plan` is the result of part_of(); its times count from now. `below`
  /// and `ground` must outlive the object.
  FaultTransport(transport::Transport& below, const FaultPlan& plan, Ground& ground,
                 RequestsSeen requests = RequestsSeen::kHere);
  /// Precondition: all endpoints are destroyed.
  ~FaultTransport() override;

  // --- driving ----------------------------------------------------------------------------------

  /// Returns the next instant at which on_timer() must be called; nullopt: none. Call it inside the
  /// critical section (verbs::Runtime::enter).
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const;
  /// Carries out the faults that are due, with their upcalls, except those that conclude() has
  /// carried out. Call it outside the critical section (verbs::Runtime::enter).
  void on_timer(verbs::Instant now);
  /// Carries out the faults whose triggers have fired, in the order in which they fired. Faults
  /// that are triggered meanwhile wait for the next call. Call it at the end of the critical
  /// section (verbs::Runtime::enter), not from a call or an upcall.
  void conclude();
  /// Call when a connection request has arrived, inside the critical section
  /// (verbs::Runtime::enter). Returns what the fault plan does to the request. Nothing: deliver the
  /// request.
  [[nodiscard]] std::optional<Refusal> next_refusal() { return triggers_.on_request({}); }
  /// Call when a program resolves a route, inside the critical section (verbs::Runtime::enter).
  /// Returns the errno with which the fault plan lets the resolution fail. 0: no fault.
  [[nodiscard]] int next_routing() { return triggers_.on_routing({}); }

  /// Returns the gate (verbs::CallGate) by which faults on verbs calls and posted work happen. The
  /// owner of the device below installs the gate.
  [[nodiscard]] verbs::CallGate& gate() { return *this; }
  /// Returns the gate (verbs::PacketGate) by which faults on packets happen. The owner of the
  /// packet carrier installs the gate.
  [[nodiscard]] verbs::PacketGate& packet_gate() { return *this; }

  // --- counts -----------------------------------------------------------------------------------

  /// Returns the counts of each fault, in the order of the plan. Call it inside the critical
  /// section (verbs::Runtime::enter).
  [[nodiscard]] std::vector<FaultStatus> status() const { return triggers_.status(); }

  // --- Transport --------------------------------------------------------------------------------
  [[nodiscard]] verbs::Runtime& runtime() override { return below_.runtime(); }
  [[nodiscard]] std::span<ibv_device* const> devices() override;
  [[nodiscard]] verbs::Provider& provider_of(ibv_device* device) override {
    return below_.provider_of(device);
  }
  [[nodiscard]] ibv_context* context_of(ibv_device* device) override {
    return below_.context_of(device);
  }
  [[nodiscard]] verbs::Result<std::unique_ptr<transport::Endpoint>> create_endpoint(
      rdma_port_space space, ibv_qp_type type, transport::EndpointHandler& handler) override;

 private:
  friend class FaultEndpoint;

  // --- for endpoints, inside the critical section -----------------------------------------------
  [[nodiscard]] std::uint64_t enter(FaultEndpoint& endpoint);
  void leave(std::uint64_t serial) { endpoints_.erase(serial); }
  [[nodiscard]] std::uint64_t next_number() { return ++numbers_; }
  [[nodiscard]] std::uint64_t upcoming_number() const { return numbers_ + 1; }
  [[nodiscard]] std::optional<Refusal> refusal_of_request();
  /// Returns how long faults delay this event of the id; nullopt: no delay.
  [[nodiscard]] std::optional<verbs::Duration> hold(std::uint64_t id, rdma_cm_event_type type) {
    return triggers_.on_delivery({}, id, type);
  }
  /// Destroys an endpoint later, after the upcall in progress.
  void bury(std::unique_ptr<transport::Endpoint> endpoint);
  void wake() { ground_.wake(); }
  [[nodiscard]] bool is_gone(const ibv_context* context) const;

  // --- observers --------------------------------------------------------------------------------
  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override;
  void on_call(std::uint64_t id, std::string_view call, int error) override;
  int on_call(std::uint64_t id, std::string_view call) override {
    return triggers_.on_gate({}, id, call);
  }
  ibv_wc_status on_work(const verbs::PostedWork& work) override {
    return triggers_.on_work({}, work);
  }
  void on_failure(const ibv_wc& completion) override { triggers_.on_failure(completion); }
  void on_take() override {}
  [[nodiscard]] verbs::Mishap on_packet(verbs::PacketWay way, std::uint16_t attribute,
                                        std::span<std::uint8_t> message) override;

  /// Returns the random numbers for a fault. `to_come` is the number of equal faults that come
  /// later in the plan.
  [[nodiscard]] std::unique_ptr<verbs::Random> dice_for(std::string_view what, const Fault& fault,
                                                        std::size_t to_come) const;
  [[nodiscard]] Fault drawn(const Fault& fault) const;

  // --- FaultDriver ------------------------------------------------------------------------------
  [[nodiscard]] bool is_over(const Arming& /*fault*/) const override { return ground_.is_over(); }
  void pull(Arming& fault) override;
  void on_fired(Arming& fault) override { ground_.on_fired(fault.status); }
  void on_counted(const Arming& fault) override;

  void pull_timed(verbs::Instant now);
  void end_what_lasted(verbs::Instant now);
  void deliver_held(verbs::Instant now);
  void carry_out(Arming& fault);
  [[nodiscard]] Effect carry_out_here(const FaultAction& action);
  [[nodiscard]] Effect remove(const std::string& device);
  [[nodiscard]] Effect change_address();
  template <class Do>
  void for_each_endpoint(Do&& action);

  transport::Transport& below_;
  Ground& ground_;
  const RequestsSeen requests_;
  const verbs::Instant start_;
  std::vector<std::unique_ptr<Arming>> faults_;
  Triggers triggers_{*this};
  std::vector<Arming*> timed_;  ///< faults that happen at a time in the future
  struct Ending {
    verbs::Instant when;
    FaultAction action;
  };
  std::vector<Ending> endings_;  ///< the ends of effects that last for a time and have not ended

  /// Faults that were triggered and not carried out yet.
  std::vector<Arming*> pulled_;
  std::map<std::uint64_t, FaultEndpoint*> endpoints_;  ///< endpoints, oldest first
  std::uint64_t serials_ = 0;
  std::uint64_t numbers_ = 0;  ///< of ids, as cm counts them
  std::vector<std::unique_ptr<transport::Endpoint>> graves_;
  /// Selects the bit to flip in a packet; null: no bit was flipped yet.
  std::unique_ptr<verbs::Random> bits_;
  std::vector<ibv_device*> gone_;
  std::vector<ibv_device*> present_;  ///< the result of devices() if some devices were removed
};

}  // namespace anyrdma::fault
