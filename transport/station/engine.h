// The part of a real-time transport that does not depend on how packets are carried: the software
// HCAs, the transport above them, the driver of both, and the handlers for fork.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "transport/realtime/fork_guard.h"
#include "transport/soft/network.h"
#include "transport/soft/port_table.h"
#include "transport/soft/transport.h"
#include "transport/station/carrier.h"
#include "transport/station/driver.h"
#include "transport/station/mishap_carrier.h"
#include "transport/station/packet_watch.h"
#include "transport/station/watched_carrier.h"
#include "verbs/packet_gate.h"
#include "verbs/random.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"

namespace anyrdma::transport::station {

/// A port of a device of an engine.
struct EnginePort {
  std::vector<ibv_gid> gids;
  int interface = 1;  ///< the index of the interface that carries the port
};

/// A device of an engine.
struct EngineDevice {
  verbs::soft::HcaConfig config;  ///< the number of ports is that of `ports`
  std::vector<EnginePort> ports;  ///< from port 1, at least one
};

/// Owns the devices, the transport and the driver of one process. Thread cancellation and forks
/// must be disabled while it is built. The destructor retires it.
class Engine final : private realtime::ForkGuarded {
 public:
  /// Creates an empty engine. `random` must outlive it.
  explicit Engine(verbs::Random& random) : random_(random) {}
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // --- building, in this order ------------------------------------------------------------------

  /// Returns the pool of packets, which the carrier needs.
  [[nodiscard]] verbs::soft::PacketPool& pool() { return pool_; }
  [[nodiscard]] Carrier::Receiver& receiver() { return driver_.receiver(); }
  /// Makes the HCAs and the transport. `network` and `ports` must outlive the engine. The rails are
  /// the ports of the first device, then those of the next one. Precondition: there is a device.
  [[nodiscard]] verbs::Result<void> build(std::span<const EngineDevice> devices,
                                          soft::Network& network, soft::PortTable& ports,
                                          const soft::SoftTransportConfig& config);
  /// Starts the background thread. From now on packets go through `carrier`.
  [[nodiscard]] verbs::Result<void> start(std::unique_ptr<Carrier> carrier);

  // --- built ------------------------------------------------------------------------------------
  [[nodiscard]] std::span<verbs::soft::Hca* const> hcas() const { return present_; }
  [[nodiscard]] std::span<const Rail> rails() const { return rails_; }
  [[nodiscard]] soft::SoftTransport& transport() { return *transport_; }
  [[nodiscard]] realtime::Epilogue& epilogue() { return driver_.epilogue(); }
  [[nodiscard]] bool forked() const { return forked_.load(std::memory_order_relaxed); }
  void retire() { driver_.retire(); }
  /// Removes a device: see Station::remove_device.
  [[nodiscard]] verbs::Result<void> remove_device(std::size_t rail);
  /// A device that returns.
  struct Return {
    std::size_t rail = 0;  ///< of its port 1
    bool new_guid = false;
    /// Returns the GIDs of a rail. Called inside the critical section.
    std::function<std::vector<ibv_gid>(std::size_t rail)> gids;
    /// Completes the new HCA, before it is a device of the transport. Called outside the critical
    /// section.
    std::function<void(verbs::soft::Hca&)> equip;
    /// Called inside the critical section when the device is there.
    std::function<void()> on_done;
  };
  /// Plugs a removed device in again, without its objects, once the critical section has been left.
  /// Only the work of epilogue() may call it. One device returns at a time. ENODEV: the device was
  /// not removed.
  [[nodiscard]] verbs::Result<void> return_device(Return device);
  [[nodiscard]] verbs::Result<void> set_port(std::size_t rail, bool active);
  [[nodiscard]] verbs::Result<void> raise_event(std::size_t rail, ibv_event_type event);
  void set_admission(soft::Admission* admission);
  void set_call_gate(verbs::CallGate* gate);
  void set_packet_gate(verbs::PacketGate* gate);
  void set_packet_watch(PacketWatch* watch);
  void set_work_observer(std::size_t device, verbs::soft::HcaObserver* observer);
  void set_ownership_sink(verbs::soft::OwnershipSink* sink);

 private:
  void before_fork() override { driver_.before_fork(); }
  void after_fork_in_parent() override { driver_.after_fork_in_parent(); }
  void after_fork_in_child() override;
  [[nodiscard]] verbs::Result<void> add(const EngineDevice& device);
  /// Adds the ports of an HCA to the transport.
  [[nodiscard]] verbs::Result<void> connect(verbs::soft::Hca& hca);
  /// Returns the index of the device of a rail.
  [[nodiscard]] std::size_t device_of(std::size_t rail) const;
  /// Returns a function that delivers packets to `next`. If `next` is null, it delivers them to the
  /// device.
  [[nodiscard]] std::function<void(verbs::soft::PacketPtr)> delivery_to(Carrier::Receiver* next);

  [[nodiscard]] std::unique_ptr<verbs::soft::Hca> make_hca(const verbs::soft::HcaConfig& config);
  void plug(const Return& device);

  verbs::Random& random_;
  std::atomic<bool> forked_ = false;
  bool remembered_ = false;
  /// The state of a device, which it keeps when it is plugged in again.
  struct State {
    bool removed = false;
    verbs::soft::HcaObserver* observer = nullptr;
  };
  std::vector<State> states_;    ///< of each device; guarded by the critical section, as are:
  std::vector<int> interfaces_;  ///< of each rail
  verbs::CallGate* gate_ = nullptr;
  verbs::soft::OwnershipSink* ownership_sink_ = nullptr;

  // The members below are in the order in which each needs those before it.
  verbs::soft::PacketPool pool_;
  Driver driver_;
  std::unique_ptr<Carrier> carrier_;
  MishapCarrier* mishaps_ = nullptr;   ///< null until a packet gate was set
  WatchedCarrier* watched_ = nullptr;  ///< null until a packet watch was set
  verbs::soft::MadeObjects made_;
  std::vector<std::unique_ptr<verbs::soft::Hca>> replaced_;  ///< programs may hold their contexts
  std::vector<std::unique_ptr<verbs::soft::Hca>> hcas_;
  std::vector<verbs::soft::Hca*> present_;  ///< all of them, also those that were removed
  std::vector<Rail> rails_;
  std::unique_ptr<soft::SoftTransport> transport_;
};

/// Returns the system's rules for ports: the range of ephemeral ports, and whether this process may
/// use ports below 1024.
[[nodiscard]] soft::PortTableConfig system_port_rules();

}  // namespace anyrdma::transport::station
