// A transport that injects the faults of a plan. It is between cm and any other transport, and
// neither notices. It rejects or drops requests, delays events, removes devices, changes addresses.
// It does no I/O: its driver passes time and random numbers.
//
// A fault that a call, an event or posted work triggers is carried out at the end of the same
// critical section (conclude()), in the same thread. So no other thread sees the state in between,
// and no call returns before. If the Ground has no such hook, the next on_timer() carries it out.
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
#include "transport/transport.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"
#include "verbs/time.h"

namespace anyrdma::fault {

class FaultEndpoint;

/// A plan's decision about a connection request.
struct Refusal {
  std::uint8_t reason = 0;
  std::vector<std::uint8_t> private_data{};
  /// No answer, and the next retransmission counts as a new request.
  bool forgotten = false;
  /// No answer, neither to the request nor to its retransmissions.
  bool ignored = false;
  /// Send an MRA with this time exponent; the request is delivered.
  std::optional<std::uint8_t> postponed{};
};

/// The layer that asks the plan about connection requests.
enum class RequestsSeen : std::uint8_t {
  kHere,   ///< this transport, when the request arrives as an event
  kBelow,  ///< the driver of the transport below, earlier: see next_refusal()
};

class FaultTransport final : public transport::Transport,
                             private transport::EventObserver,
                             private transport::CallObserver,
                             private verbs::CallGate,
                             private verbs::PacketGate {
 public:
  /// `plan` is the result of part_of(). Its times count from now. `below` and `ground` must outlive
  /// the object.
  FaultTransport(transport::Transport& below, const FaultPlan& plan, Ground& ground,
                 RequestsSeen requests = RequestsSeen::kHere);
  /// Precondition: all endpoints are destroyed.
  ~FaultTransport() override;

  // --- driving ----------------------------------------------------------------------------------
  /// Returns the next instant at which on_timer() must be called; nullopt: none. Critical section.
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const;
  /// Carries out faults that are due, with their upcalls, except those that conclude() has carried
  /// out. Call it outside the critical section.
  void on_timer(verbs::Instant now);
  /// Carries out the faults whose triggers have fired, in that order. Triggers that fire meanwhile
  /// wait for the next call. Call it at the end of the critical section, not from a call or an
  /// upcall.
  void conclude();
  /// A connection request has arrived: returns what to do instead of delivering it; nothing:
  /// deliver it. Critical section.
  [[nodiscard]] std::optional<Refusal> next_refusal();
  /// A program resolves a route: returns the errno with which the resolution fails; 0: it proceeds
  /// normally. Critical section.
  [[nodiscard]] int next_routing();

  /// Returns the gate for verbs calls and posted work. The owner of the device below installs it.
  [[nodiscard]] verbs::CallGate& gate() { return *this; }
  /// Returns the gate for packets. The owner of the packet carrier installs it.
  [[nodiscard]] verbs::PacketGate& packet_gate() { return *this; }

  // --- counts -----------------------------------------------------------------------------------
  /// Returns the counts of each fault, in the order of the plan. Critical section.
  [[nodiscard]] std::vector<FaultStatus> status() const;

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
  /// Returns how long to delay this event; nullopt: no delay.
  [[nodiscard]] std::optional<verbs::Duration> hold(std::uint64_t id, rdma_cm_event_type type);
  /// Destroys an endpoint later, outside its upcall.
  void bury(std::unique_ptr<transport::Endpoint> endpoint);
  void wake() { ground_.wake(); }
  [[nodiscard]] bool is_gone(const ibv_context* context) const;

  // --- observers --------------------------------------------------------------------------------
  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override;
  void on_call(std::uint64_t id, std::string_view call, int error) override;
  int on_call(std::uint64_t id, std::string_view call) override;
  ibv_wc_status on_work(const verbs::PostedWork& work) override;
  void on_failure(const ibv_wc& completion) override;
  void on_take() override {}
  [[nodiscard]] verbs::Mishap on_packet(verbs::PacketWay way, std::uint16_t attribute,
                                        std::span<std::uint8_t> message) override;

  /// `to_come`: the number of faults like this one that have yet to ask.
  [[nodiscard]] std::unique_ptr<verbs::Random> dice_for(std::string_view what, const Fault& fault,
                                                        std::size_t to_come) const;
  [[nodiscard]] Fault drawn(const Fault& fault) const;
  void count_event(Step step, std::uint64_t id, rdma_cm_event_type type);
  /// Counts an occurrence of the fault's trigger. True: the fault must happen now.
  [[nodiscard]] bool is_due(Arming& fault);
  void count_observed(Arming& fault);
  void account_for(const Arming& fault);
  void pull(Arming& fault);
  void pull_timed(verbs::Instant now);
  void end_what_lasted(verbs::Instant now);
  void deliver_held(verbs::Instant now);
  void fire(Arming& fault);
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
  std::vector<Arming*> timed_;  ///< the faults with a time that has not come
  struct Ending {
    verbs::Instant when;
    FaultAction action;
  };
  std::vector<Ending> endings_;  ///< of what lasts, and has not ended
  /// Work that was made to fail and whose completion the program has not polled.
  struct Spoiled {
    Arming* fault;
    verbs::PostedWork work;
    ibv_wc_status status;
  };
  std::vector<Spoiled> spoiled_;
  std::vector<Arming*> pulled_;                        ///< and not carried out yet
  std::map<std::uint64_t, FaultEndpoint*> endpoints_;  ///< by age
  std::uint64_t serials_ = 0;
  std::uint64_t numbers_ = 0;  ///< of ids, as cm counts them
  std::vector<std::unique_ptr<transport::Endpoint>> graves_;
  std::unique_ptr<verbs::Random> bits_;  ///< which one is flipped; null: none was yet
  std::vector<ibv_device*> gone_;
  std::vector<ibv_device*> present_;  ///< what devices() answers when some are gone
};

}  // namespace anyrdma::fault
