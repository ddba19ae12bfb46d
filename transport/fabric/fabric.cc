#include "transport/fabric/fabric.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "transport/fabric/address_change.h"
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
#include "verbs/soft/lid_list.h"

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
  explicit FabricImpl(const FabricConfig& config) : config_(config), lids_(config.lids) {}

  [[nodiscard]] Result<void> join();
  Transport& transport() override { return engine_.transport(); }
  bool forked() const override { return engine_.forked(); }
  void retire() override { engine_.retire(); }
  realtime::Epilogue& epilogue() override { return engine_.epilogue(); }
  Result<void> remove_device(std::size_t rail) override { return engine_.remove_device(rail); }
  Result<void> set_port(std::size_t rail, bool active) override {
    return engine_.set_port(rail, active);
  }
  void apply(const soft::DeviceChange& change, std::size_t rail) override {
    changes_.push_back({change, rail});
    engine_.epilogue().call();
  }
  Result<void> raise_event(std::size_t rail, ibv_event_type event) override {
    return engine_.raise_event(rail, event);
  }
  void set_admission(soft::Admission* admission) override { engine_.set_admission(admission); }
  void set_call_gate(verbs::CallGate* gate) override { engine_.set_call_gate(gate); }
  void set_packet_gate(verbs::PacketGate* gate) override { engine_.set_packet_gate(gate); }
  void set_packet_watch(station::PacketWatch* watch) override { engine_.set_packet_watch(watch); }
  [[nodiscard]] std::size_t devices() const override { return engine_.hcas().size(); }
  [[nodiscard]] std::size_t rails() const override { return engine_.rails().size(); }
  void set_work_observer(std::size_t device, verbs::soft::HcaObserver* observer) override {
    engine_.set_work_observer(device, observer);
  }
  void set_ownership_sink(verbs::soft::OwnershipSink* sink) override {
    engine_.set_ownership_sink(sink);
  }

 private:
  [[nodiscard]] Result<void> take_place();
  [[nodiscard]] Result<void> build();
  void listen_for_changes();
  /// A change of a device of the host is applied to ours when no thread is inside a call.
  void conclude() override;
  void carry_out(const soft::DeviceChange& change, std::size_t rail);
  void return_device(std::size_t rail, bool new_guid);
  void equip(verbs::soft::Hca& hca) const;
  /// A change of an object, which may be of any device.
  void change_object(const soft::DeviceChange& change);
  [[nodiscard]] std::vector<station::EngineDevice> devices_of_host() const;
  [[nodiscard]] std::vector<station::EngineDevice> devices_of_machine() const;

  const FabricConfig config_;
  const verbs::soft::LidList lids_;
  // In the order in which each needs those before it.
  realtime::SystemRandom random_;
  std::unique_ptr<HostNetwork> network_;  ///< null: `outside_` is
  std::unique_ptr<Outside> outside_;      ///< null: there is no gateway
  std::deque<Outside::Change> changes_;   ///< that were not carried out yet
  bool returning_ = false;                ///< a device will be there soon
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
  if (config_.near_memory && config_.memory_chooser == nullptr && config_.rails.size() <= 1 &&
      config_.devices == 1)
    near_ = NearMembers::create(registry_->slot(), registry_->incarnation());
  carrier_ = std::move(*carrier);
  if (config_.rails.empty()) {
    network_ = std::make_unique<HostNetwork>(HostAddresses::read(), config_.devices);
    carrier_->attach(*network_);
  } else {
    outside_ = std::make_unique<Outside>(config_.rails, registry_->slot());
    carrier_->attach(outside_.get());
    carrier_->attach(static_cast<const RailAddresses&>(*outside_));
  }
  return {};
}

Result<void> FabricImpl::build() {
  const Slot slot = registry_->slot();
  std::vector<station::EngineDevice> devices = outside_ ? devices_of_host() : devices_of_machine();
  // No two queue pairs of a process have one number: a reader of its recording has no device.
  const auto share = kQpnCount / static_cast<std::uint32_t>(devices.size());
  std::uint32_t first = first_qpn(slot);
  for (station::EngineDevice& device : devices) {
    device.config.qpn_first = std::exchange(first, first + share);
    device.config.qpn_count = share;
    verbs::soft::resemble(device.config, config_.device);
  }
  soft::SoftTransportConfig rules{.profile = config_.profile,
                                  .comm_id_mask = kCommIdMask,
                                  .comm_id_tag = comm_id_tag(slot),
                                  .waiting_requests_max = kWaitingRequestsMax,
                                  .loopback_is_routed = config_.devices > 1,
                                  .loopback_has_device = true};
  if (outside_) {
    rules.waiting_requests_max = 0;
    rules.loopback_has_device = false;
  }
  soft::Network& network = outside_ ? static_cast<soft::Network&>(*outside_) : *network_;
  if (!engine_.build(devices, network, *registry_, rules)) return FabricErrc::kNoResources;
  if (outside_) {
    outside_->attach(engine_.transport());
  } else {
    network_->attach(engine_.transport());
  }
  for (verbs::soft::Hca* const hca : engine_.hcas()) equip(*hca);
  if (near_) carrier_->attach(near_.get());
  carrier_->attach(engine_.rails(), engine_.transport());
  if (!engine_.start(std::move(carrier_))) return FabricErrc::kNoResources;
  if (outside_) listen_for_changes();
  return {};
}

void FabricImpl::equip(verbs::soft::Hca& hca) const {
  if (config_.memory_chooser != nullptr)
    hca.set_memory_model(config_.memory, *config_.memory_chooser);
  if (near_) hca.set_near_memory(near_.get());
  if (!config_.lids.empty()) hca.set_lids(&lids_);
}

std::vector<station::EngineDevice> FabricImpl::devices_of_host() const {
  std::vector<station::EngineDevice> devices;
  for (std::size_t rail = 0; rail < outside_->rails(); ++rail) {
    if (outside_->port(rail) == 1)
      devices.push_back({outside_->device(config_.link_layer, rail), {}});
    devices.back().ports.push_back({outside_->gids(kGids, rail), outside_->interface(rail)});
  }
  return devices;
}

std::vector<station::EngineDevice> FabricImpl::devices_of_machine() const {
  std::vector<station::EngineDevice> devices;
  for (std::size_t device = 0; device < network_->rails(); ++device) {
    verbs::soft::HcaConfig config{.name = "anyrdma" + std::to_string(device),
                                  .min_ack_timeout = kMinAckTimeout,
                                  .link_layer = config_.link_layer};
    config.node_guid = wire::Guid{value(config.node_guid) + device};
    devices.push_back({config, {{network_->gids(kGids, device), network_->interface(device)}}});
  }
  return devices;
}

void FabricImpl::listen_for_changes() {
  const verbs::CriticalSection section(engine_.transport().runtime());
  engine_.epilogue().set(this);
  outside_->set_on_changes([this] { engine_.epilogue().call(); });
  // Earlier packets were not reported.
  engine_.epilogue().call();
}

void FabricImpl::conclude() {
  std::ranges::copy(outside_->take_changes(), std::back_inserter(changes_));
  while (!changes_.empty() && !returning_) {
    const Outside::Change next = changes_.front();
    changes_.pop_front();
    carry_out(next.change, next.rail);
  }
}

void FabricImpl::return_device(std::size_t rail, bool new_guid) {
  // A process that opened it after its removal and its return sees both now.
  (void)engine_.remove_device(rail).has_value();
  returning_ =
      engine_
          .return_device({.rail = rail,
                          .new_guid = new_guid,
                          .gids = [this](std::size_t of) { return outside_->gids(kGids, of); },
                          .equip = [this](verbs::soft::Hca& hca) { equip(hca); },
                          .on_done =
                              [this] {
                                returning_ = false;
                                engine_.epilogue().call();
                              }})
          .has_value();
}

// One that there is nothing for in this process has no effect.
void FabricImpl::carry_out(const soft::DeviceChange& change, std::size_t rail) {
  using Kind = soft::DeviceChange::Kind;
  switch (change.kind) {
    case Kind::kRemoved:
      (void)engine_.remove_device(rail).has_value();
      break;
    case Kind::kPortDown:
    case Kind::kPortUp:
      (void)engine_.set_port(rail, change.kind == Kind::kPortUp).has_value();
      break;
    case Kind::kMoved:
      outside_->set_link(rail, change.link);
      engine_.transport().on_address_change(outside_->interface(rail));
      break;
    case Kind::kNeighbourMoved:
      outside_->set_link(rail, change.neighbour, change.link);
      engine_.transport().on_neighbour_changed(outside_->interface(rail), change.neighbour);
      break;
    case Kind::kQpFailed:
    case Kind::kCqOverrun:
    case Kind::kSrqFailed:
      change_object(change);
      break;
    case Kind::kEvent:
      (void)engine_.raise_event(rail, change.event).has_value();
      break;
    case Kind::kGroupLost:
      (void)engine_.transport().on_group_lost(change.neighbour);
      break;
    case Kind::kReturned:
      if (outside_->port(rail) == 1) return_device(rail, change.new_guid);
      break;
    case Kind::kAddressAdded:
    case Kind::kAddressDropped:
      change_address(*outside_, *engine_.rails()[rail].hca, change, rail);
      break;
  }
  engine_.transport().runtime().call_driver();
}

void FabricImpl::change_object(const soft::DeviceChange& change) {
  using Kind = soft::DeviceChange::Kind;
  for (verbs::soft::Hca* const hca : engine_.hcas()) {
    const Result<void> changed =
        change.kind == Kind::kQpFailed    ? hca->fail_qp(change.object, change.event)
        : change.kind == Kind::kCqOverrun ? hca->overrun_cq(change.object.made)
                                          : hca->fail_srq(change.object.made);
    if (changed || changed.error().value() != ENOENT) return;
  }
}

}  // namespace

Result<std::unique_ptr<Fabric>> Fabric::open(const FabricConfig& config) {
  if (!good_name(config.name)) return FabricErrc::kBadName;
  if (config.devices == 0 || config.devices > kRailsMax) return FabricErrc::kBadDevices;
  if (config.uid != ::geteuid()) return FabricErrc::kWrongUser;
  auto fabric = std::make_unique<FabricImpl>(config);
  if (Result<void> joined = fabric->join(); !joined) return joined.error();
  return std::unique_ptr<Fabric>(std::move(fabric));
}

}  // namespace anyrdma::transport::fabric
