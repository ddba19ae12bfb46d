// The observer of a simulated host's transport and devices: reports their actions to the trace, the
// recording and the fault plan, and applies the faults that result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/trace/trace.h"
#include "transport/soft/transport.h"
#include "transport/transport.h"
#include "verbs/call_gate.h"
#include "verbs/misuse.h"
#include "verbs/runtime.h"
#include "verbs/soft/hca.h"
#include "verbs/time.h"

namespace anyrdma::sim {

class Host;
class World;

/// Observes the transport and the devices of one host.
class HostObserver final : public transport::soft::Observer,
                           public transport::soft::Admission,
                           public transport::EventObserver,
                           public transport::CallObserver,
                           public verbs::CallGate,
                           public verbs::soft::OwnershipSink {
 public:
  explicit HostObserver(Host& host);

  /// Observes the host's new transport, as far as anything listens.
  void watch_transport();
  void watch_events();
  void watch_calls();
  void watch_gate();
  /// Stops observing the host's transport.
  void leave_transport();
  /// While `open`, the simulator itself makes calls, and faults do not apply to them.
  void open_gate(bool open) { gate_is_open_ = open; }
  /// The delay before each event and each poll of the host's programs.
  [[nodiscard]] verbs::Duration slowness() const { return slowness_; }
  void set_slowness(verbs::Duration slowness) { slowness_ = slowness; }
  /// A verbs::MisuseListener. Reports to the monitor, else to the running exploration, else to
  /// stderr.
  [[nodiscard]] static bool on_misuse(verbs::Runtime& runtime, const verbs::Misuse& misuse);

  // Records for the trace.
  void on_mad_sent(std::string_view, const ibcm::Path&, Mad) override {}
  void on_mad_received(std::string_view, const ibcm::Path&, Mad) override {}
  void on_mad_dropped(std::string_view device, ibcm::DropReason reason,
                      std::uint16_t attribute) override;
  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override;
  void on_acknowledged(std::uint64_t id) override;
  void on_call(std::uint64_t id, std::string_view call, int error) override;
  void on_refused(std::uint64_t id, std::string_view call, int error) override;
  void on_state(std::uint64_t id, std::string_view state) override;
  void on_handshake(std::uint64_t id, const rdma_cm_id& raw, std::string_view call,
                    const transport::ConnectionParameters& given) override;
  void on_channels(int change) override;
  void on_finding(const verbs::soft::OwnershipFinding& finding) override;
  [[nodiscard]] verbs::Runtime::Mark mark() override;
  [[nodiscard]] std::string describe(const verbs::Runtime::Mark& mark) override;
  void watch_memory(verbs::LostMemory& lost, std::uint64_t begin, std::uint64_t end) override;
  void forget_memory(verbs::LostMemory& lost) override;
  void on_owed(const verbs::Runtime::Owed& owed) override;
  void on_paid() override;
  // Called before a call or a work request takes effect. A fault of the plan makes it fail, with
  // the returned errno or status.
  int on_call(std::uint64_t id, std::string_view call) override;
  ibv_wc_status on_work(const verbs::PostedWork& work) override;
  void on_failure(const ibv_wc& completion) override;
  void on_take() override;
  std::optional<Refusal> on_request(std::string_view device,
                                    const ibcm::ReqParameters& request) override;

 private:
  Host& host_;
  World& world_;
  HostIndex index_;
  bool gate_is_open_ = false;
  verbs::Duration slowness_{};
};

}  // namespace anyrdma::sim
