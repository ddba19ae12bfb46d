// Decides at which calls, events, packets and requests the faults of a plan happen, and what the
// faults on them do. Both drivers of fault plans use it: the simulator for all hosts of a world,
// and FaultTransport for one process in real time.
#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault.h"
#include "transport/transport.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"
#include "verbs/time.h"

namespace anyrdma::fault {

/// The effect of a fault plan on a connection request.
struct Refusal {
  std::uint8_t reason = 0;
  std::span<const std::uint8_t> private_data{};  ///< valid as long as the fault
  /// True: the request is not answered, and its next retransmission counts as a new request.
  bool forgotten = false;
  /// True: neither the request nor its retransmissions are answered.
  bool ignored = false;
  /// The request is delivered, and an MRA with this time exponent is sent to the peer.
  std::optional<std::uint8_t> postponed{};
};

/// Implemented by the driver of a fault plan. The functions must not call Triggers.
class FaultDriver {
 public:
  virtual ~FaultDriver() = default;
  /// Whether the fault can no longer happen. Its occurrences are then not counted.
  [[nodiscard]] virtual bool is_over(const Arming& fault) const = 0;
  /// Requests that the driver carries out the fault's action soon, outside of the call, event or
  /// packet that triggered it. The driver then calls Triggers::fire().
  virtual void pull(Arming& fault) = 0;
  /// Called when a fault takes effect, with its counts.
  virtual void on_fired(Arming& fault) = 0;
  /// Called when the fault's counts have changed.
  virtual void on_counted(const Arming& /*fault*/) {}
};

/// The faults of a plan in progress. Each function is one occurrence of a trigger: it counts the
/// occurrence for every fault that has this trigger, and returns the effect of those that happen.
/// `host` is the host at which it occurs; empty: the plan is for one host, whose name does not
/// matter. Threads: the driver's critical section.
class Triggers {
 public:
  /// `driver` must outlive this object.
  explicit Triggers(FaultDriver& driver) : driver_(driver) {}
  Triggers(const Triggers&) = delete;
  Triggers& operator=(const Triggers&) = delete;

  /// Adds a fault, which must outlive this object. Faults take effect in this order.
  void add(Arming& fault) { faults_.push_back(&fault); }
  [[nodiscard]] std::vector<FaultStatus> status() const;

  /// Counts an occurrence of a trigger at a time. True: the fault happens now.
  [[nodiscard]] bool is_due(Arming& fault);
  void fire(Arming& fault);
  void count_observed(Arming& fault);

  void on_event(std::string_view host, transport::EventObserver::Step step, std::uint64_t id,
                rdma_cm_event_type type);
  /// Returns how long faults delay an event that is queued now; nullopt: no delay. Faults that
  /// delay an event are not counted by on_event().
  [[nodiscard]] std::optional<verbs::Duration> on_delivery(std::string_view host, std::uint64_t id,
                                                           rdma_cm_event_type type);
  /// After a call.
  void on_call(std::string_view host, std::uint64_t id, std::string_view call);
  /// Before a call. Returns the errno with which the call fails; 0: no fault.
  [[nodiscard]] int on_gate(std::string_view host, std::uint64_t id, std::string_view call);
  void on_state(std::string_view host, std::uint64_t id, std::string_view state);
  /// Returns what happens to a connection request that has arrived; nullopt: deliver it.
  [[nodiscard]] std::optional<Refusal> on_request(std::string_view host);
  /// Returns the errno with which an address or route resolution fails; 0: no fault.
  [[nodiscard]] int on_resolving(std::string_view host);
  [[nodiscard]] int on_routing(std::string_view host);
  /// Returns the status with which posted work completes.
  [[nodiscard]] ibv_wc_status on_work(std::string_view host, const verbs::PostedWork& work);
  /// Call when the program has polled a completion in error.
  void on_failure(const ibv_wc& completion);
  /// Returns what happens to a packet. `is_it`: whether a trigger names the packet. `alter`:
  /// changes the CM message in the packet. `arrives`: whether the packet would arrive without a
  /// fault; if not, the faults make no difference. The caller adds the random number.
  [[nodiscard]] verbs::Mishap on_packet(const std::function<bool(const Trigger&)>& is_it,
                                        const std::function<void(const AlterMessage&)>& alter,
                                        bool arrives = true);

 private:
  /// Work that completes with an error because of a fault, until the program has polled the
  /// completion.
  struct Spoiled {
    Arming* fault;
    verbs::PostedWork work;
    ibv_wc_status status;
  };

  /// Pulls each fault that `is_it(fault)` names and that is due.
  template <class IsIt>
  void pull_each(IsIt&& is_it);
  /// As pull_each(), but actions of type Fail take effect at once: returns the first one's errno.
  template <class Fail, class IsIt>
  [[nodiscard]] int error_of(IsIt&& is_it);

  FaultDriver& driver_;
  std::vector<Arming*> faults_;
  std::vector<Spoiled> spoiled_;
};

}  // namespace anyrdma::fault
