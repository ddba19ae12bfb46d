#include "transport/fabric/fabric.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "transport/fabric/host_network.h"
#include "transport/fabric/member_carrier.h"
#include "transport/fabric/membership.h"
#include "transport/fabric/near/near_members.h"
#include "transport/fabric/outside.h"
#include "transport/fabric/rendezvous/registry.h"
#include "transport/realtime/cancellation.h"
#include "transport/realtime/fork_guard.h"
#include "transport/realtime/system_random.h"
#include "transport/station/engine.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::transport::fabric {
namespace {

// Nothing is lost between processes, so why in one of them: many ids may connect at once.
constexpr std::size_t kWaitingRequestsMax = 65536;
// No packet is lost here: who does not answer waits for a processor, where a NIC would have
// answered without one. About a second.
constexpr std::uint8_t kMinAckTimeout = 18;
constexpr std::size_t kNameMax = 64;

bool good_name(std::string_view name) {
  constexpr std::string_view kGood =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= kNameMax && name.front() != '.' &&
         name.find_first_not_of(kGood) == std::string_view::npos;
}

FabricErrc socket_error(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
      return FabricErrc::kNoResources;
    case ENOSPC:  // nor inodes
    case EDQUOT:
      return FabricErrc::kNoSpace;
    default:
      return FabricErrc::kNoSocket;
  }
}

class FabricImpl final : public Fabric, private realtime::Epilogue::Work {
 public:
  explicit FabricImpl(const FabricConfig& config) : config_(config) {}

  [[nodiscard]] Result<void> join();
  Transport& transport() override { return engine_.transport(); }
  bool forked() const override { return engine_.forked(); }
  void retire() override { engine_.retire(); }
  realtime::Epilogue& epilogue() override { return engine_.epilogue(); }
  Result<void> remove_device() override { return engine_.remove_device(); }
  Result<void> set_port(bool active) override { return engine_.set_port(active); }
  Result<void> raise_event(ibv_event_type event) override { return engine_.raise_event(event); }
  void set_admission(soft::Admission* admission) override { engine_.set_admission(admission); }
  void set_call_gate(verbs::CallGate* gate) override { engine_.set_call_gate(gate); }
  void set_packet_gate(verbs::PacketGate* gate) override { engine_.set_packet_gate(gate); }
  void set_packet_watch(station::PacketWatch* watch) override { engine_.set_packet_watch(watch); }
  void set_work_observer(verbs::soft::HcaObserver* observer) override {
    engine_.set_work_observer(observer);
  }
  void set_ownership_sink(verbs::soft::OwnershipSink* sink) override {
    engine_.set_ownership_sink(sink);
  }

 private:
  [[nodiscard]] Result<void> take_place();
  [[nodiscard]] Result<void> build();
  void listen_for_changes();
  /// A change of the host's device is applied to ours when no thread is inside a call.
  void conclude() override;
  void carry_out(const soft::DeviceChange& change);
  template <class Network>
  [[nodiscard]] Result<void> build_on(Network& network, const verbs::soft::HcaConfig& device,
                                      const soft::SoftTransportConfig& rules) {
    const Result<void> built =
        engine_.build(device, network.gids(kGids), network, network.interface(), *registry_, rules);
    if (built) network.attach(engine_.transport());
    return built;
  }

  const FabricConfig config_;
  // In the order in which each needs those before it.
  realtime::SystemRandom random_;
  std::unique_ptr<HostNetwork> network_;  ///< null: `outside_` is
  std::unique_ptr<Outside> outside_;      ///< null: there is no gateway
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<NearMembers> near_;  ///< null: all goes by packets
  station::Engine engine_{random_};
  std::unique_ptr<MemberCarrier> carrier_;  ///< until the engine has it
};

Result<void> FabricImpl::join() {
  const realtime::CancellationOff off;
  const auto no_forks = realtime::hold_off_forks();
  if (Result<void> placed = take_place(); !placed) return placed;
  return build();
}

Result<void> FabricImpl::take_place() {
  auto registry = Registry::join(config_, random_, station::system_port_rules());
  if (!registry) return registry.error();
  auto carrier = MemberCarrier::create(mesh_config(config_, **registry), **registry, engine_.pool(),
                                       engine_.receiver());
  if (!carrier) return socket_error(carrier.error().value());
  registry_ = std::move(*registry);
  if (config_.near_memory && config_.memory_chooser == nullptr)
    near_ = NearMembers::create(registry_->slot(), registry_->incarnation());
  carrier_ = std::move(*carrier);
  if (config_.addresses.empty()) {
    network_ = std::make_unique<HostNetwork>(HostAddresses::read());
  } else {
    outside_ = std::make_unique<Outside>(config_.addresses, registry_->slot());
    carrier_->attach(outside_.get());
  }
  return {};
}

Result<void> FabricImpl::build() {
  const Slot slot = registry_->slot();
  verbs::soft::HcaConfig device = outside_
                                      ? outside_->device(config_.link_layer)
                                      : verbs::soft::HcaConfig{.min_ack_timeout = kMinAckTimeout,
                                                               .link_layer = config_.link_layer};
  device.qpn_first = first_qpn(slot);
  device.qpn_count = kQpnCount;
  soft::SoftTransportConfig rules{.profile = config_.profile,
                                  .comm_id_mask = kCommIdMask,
                                  .comm_id_tag = comm_id_tag(slot),
                                  .waiting_requests_max = kWaitingRequestsMax,
                                  .loopback_has_device = true};
  if (outside_) {
    rules.waiting_requests_max = 0;
    rules.loopback_has_device = false;
  }
  verbs::soft::resemble(device, config_.device);
  const Result<void> built =
      outside_ ? build_on(*outside_, device, rules) : build_on(*network_, device, rules);
  if (!built) return FabricErrc::kNoResources;
  if (config_.memory_chooser != nullptr)
    engine_.hca().set_memory_model(config_.memory, *config_.memory_chooser);
  if (near_) {
    engine_.hca().set_near_memory(near_.get());
    carrier_->attach(near_.get());
  }
  carrier_->attach(engine_.hca(), engine_.transport());
  if (!engine_.start(std::move(carrier_))) return FabricErrc::kNoResources;
  if (outside_) listen_for_changes();
  return {};
}

void FabricImpl::listen_for_changes() {
  const verbs::CriticalSection section(engine_.transport().runtime());
  engine_.epilogue().set(this);
  outside_->set_on_changes([this] { engine_.epilogue().call(); });
  // Earlier packets were not reported.
  engine_.epilogue().call();
}

void FabricImpl::conclude() {
  for (const soft::DeviceChange& change : outside_->take_changes()) carry_out(change);
}

// One that there is nothing for in this process has no effect.
void FabricImpl::carry_out(const soft::DeviceChange& change) {
  using Kind = soft::DeviceChange::Kind;
  switch (change.kind) {
    case Kind::kRemoved:
      (void)engine_.remove_device().has_value();
      break;
    case Kind::kPortDown:
    case Kind::kPortUp:
      (void)engine_.set_port(change.kind == Kind::kPortUp).has_value();
      break;
    case Kind::kMoved:
      outside_->set_link(change.link);
      engine_.transport().on_address_change(outside_->interface());
      break;
    case Kind::kNeighbourMoved:
      outside_->set_link(change.neighbour, change.link);
      engine_.transport().on_neighbour_changed(outside_->interface(), change.neighbour);
      break;
    case Kind::kQpFailed:
      (void)engine_.hca().fail_qp(change.object, change.event).has_value();
      break;
    case Kind::kCqOverrun:
      (void)engine_.hca().overrun_cq(change.object.made).has_value();
      break;
    case Kind::kSrqFailed:
      (void)engine_.hca().fail_srq(change.object.made).has_value();
      break;
    case Kind::kEvent:
      (void)engine_.raise_event(change.event).has_value();
      break;
    case Kind::kGroupLost:
      (void)engine_.transport().on_group_lost(change.neighbour);
      break;
  }
  engine_.transport().runtime().call_driver();
}

}  // namespace

Result<std::unique_ptr<Fabric>> Fabric::open(const FabricConfig& config) {
  if (!good_name(config.name)) return FabricErrc::kBadName;
  if (config.uid != ::geteuid()) return FabricErrc::kWrongUser;
  auto fabric = std::make_unique<FabricImpl>(config);
  if (Result<void> joined = fabric->join(); !joined) return joined.error();
  return std::unique_ptr<Fabric>(std::move(fabric));
}

}  // namespace anyrdma::transport::fabric
