#include "sim/own_nic.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "recording/packets/packet_fields.h"
#include "sim/host.h"
#include "sim/recorder.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

using transport::soft::DeviceChange;
using verbs::soft::Hca;
using verbs::soft::HcaConfig;

/// EUI-64 of a MAC, as Linux derives a RoCE device's GUID.
wire::Guid guid_of(const roce::Mac& mac) {
  const std::uint8_t bytes[] = {
      static_cast<std::uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  std::uint64_t guid = 0;
  for (const std::uint8_t byte : bytes) guid = guid << 8 | byte;
  return wire::Guid{guid};
}

HcaConfig config_of(const InterfaceOptions& options, std::size_t index, const roce::Mac& mac,
                    std::uint8_t ports) {
  const HcaConfig defaults;
  HcaConfig config = options.device.value_or(defaults);
  if (config.name == defaults.name) config.name = device_name(index);
  if (config.node_guid == defaults.node_guid) config.node_guid = guid_of(mac);
  // Its queue pairs and its keys are no other device's.
  const auto shift = static_cast<std::uint32_t>(index) * defaults.qpn_count;
  constexpr std::uint32_t kNumbers = 1 << 24;
  if (config.qpn_first == defaults.qpn_first &&
      config.qpn_first + shift + config.qpn_count <= kNumbers)
    config.qpn_first += shift;
  config.ports = ports;
  return config;
}

std::optional<DropCause> cause_of(const Hca::Counters& before, const Hca::Counters& after) {
  if (after.malformed != before.malformed) return DropCause::kMalformed;
  if (after.unknown_qp != before.unknown_qp) return DropCause::kUnknownQp;
  if (after.bad_icrc != before.bad_icrc) return DropCause::kBadIcrc;
  if (after.wrong_state != before.wrong_state) return DropCause::kWrongState;
  if (after.bad_queue_key != before.bad_queue_key) return DropCause::kBadQueueKey;
  if (after.no_receive != before.no_receive) return DropCause::kNoReceive;
  if (after.unknown_group != before.unknown_group) return DropCause::kUnknownGroup;
  return std::nullopt;
}

bool same(const ibv_gid& a, const ibv_gid& b) {
  return std::equal(std::begin(a.raw), std::end(a.raw), std::begin(b.raw));
}

}  // namespace

OwnNic::OwnNic(Host& host, std::size_t interface, const InterfaceOptions& options,
               std::uint8_t ports)
    : Nic(host, interface),
      random_(host.world().seeds(),
              "device " + host.name() + "/" +
                  config_of(options, interface, host.interfaces()[interface].mac, ports).name),
      keys_(host.world().seeds(), "keys " + host.name()) {
  plug(config_of(options, interface, host.interfaces()[interface].mac, ports));
}

// A key of another host, or of the time before a restart, gives no access.
void OwnNic::plug(HcaConfig config) {
  World& world = host_.world();
  config.key_generation = static_cast<std::uint8_t>(keys_.next());
  hca_ = Hca::create(host_.runtime(), random_, world.pool_, config);
  hca_->count_with(host_.devices().made_);
  hca_->lend_payloads();
  hca_->set_lids(&world.lids());
  MemoryChoices& memory = world.memory();
  if (!memory.is_strict()) hca_->set_memory_model(memory.profile(), memory);
  if (Recorder* const stream = world.stream(); stream != nullptr)
    hca_->set_observer(stream->watch(host_.index(), config.name));
  if (world.mistakes() != nullptr) hca_->set_ownership_sink(&host_.observer_);
  running_ = hca_.get();
  for (std::uint8_t port = 1; port <= carried_; ++port) connect(port);
  if (host_.transport().call_gate() != nullptr) hca_->set_call_gate(&host_.observer_);
}

void OwnNic::connect(std::uint8_t port) {
  const std::size_t interface = interface_ + port - 1;
  std::uint32_t gid_index = 0;
  for (const Prefix& prefix : host_.interfaces()[interface].prefixes) {
    hca_->set_port_gid(port, gid_index++, prefix.address.gid());
  }
  const int number = interface_number(interface);
  const Result<void> added = port == 1 ? host_.transport().add_device(*hca_, number)
                                       : host_.transport().add_port(*hca_, port, number);
  CM_ASSERT(added.has_value());
}

void OwnNic::carry_port(std::uint8_t port, std::size_t interface) {
  CM_ASSERT(port == carried_ + 1 && interface == interface_ + carried_);
  ++carried_;
  connect(port);
}

bool OwnNic::is_down(std::uint8_t port) const {
  return running_ != nullptr && running_->state_of(port) != IBV_PORT_ACTIVE;
}

bool OwnNic::take_at(std::uint8_t port, const Host& from, verbs::soft::PacketPtr&& packet) {
  if (running_ == nullptr) return Nic::take(from, std::move(packet));
  packet->port = port;
  World& world = host_.world();
  const bool tracing = world.trace().on();
  if (!tracing && world.stream() == nullptr) {
    running_->on_packet(host_.now(), std::move(packet));
    return true;
  }
  recording::FieldWriter fields;
  if (tracing) fields = recording::fields_of(*packet);
  const bool message = cm_attribute(*packet) != 0;
  const Hca::Counters before = running_->counters();
  const std::uint64_t mark = packet->mark;
  running_->on_packet(host_.now(), std::move(packet));
  const std::optional<DropCause> cause = cause_of(before, running_->counters());
  if (!cause) return true;
  if (message) world.lose_message(host_, &from);
  if (world.recorder() != nullptr) world.recorder()->lost(mark, to_string(*cause), host_.index());
  world.trace().drop(world.now(), host_.index(), from.index(), *cause, fields);
  return true;
}

// The transport has the news of the network, and knows of groups.
Result<void> OwnNic::change_port(std::uint8_t port, const DeviceChange& change) {
  using Kind = DeviceChange::Kind;
  if (change.kind == Kind::kMoved || change.kind == Kind::kNeighbourMoved) return {};
  if (running_ == nullptr) return verbs::errno_code(ENODEV);
  if (change.kind == Kind::kGroupLost) return verbs::errno_code(ENOENT);
  const verbs::CriticalSection section(host_.runtime());
  switch (change.kind) {
    case Kind::kRemoved:
      remove();
      return {};
    case Kind::kPortDown:
      return set_port(port, IBV_PORT_DOWN);
    case Kind::kPortUp:
      return set_port(port, IBV_PORT_ACTIVE);
    case Kind::kQpFailed:
      return running_->fail_qp(change.object, change.event);
    case Kind::kCqOverrun:
      return running_->overrun_cq(change.object.made);
    case Kind::kSrqFailed:
      return running_->fail_srq(change.object.made);
    case Kind::kEvent:
      running_->raise_event_of(port, change.event);
      return {};
    case Kind::kMoved:
    case Kind::kNeighbourMoved:
    case Kind::kGroupLost:
    case Kind::kReturned:
    case Kind::kAddressAdded:
    case Kind::kAddressDropped:
      break;
  }
  return verbs::errno_code(ENOENT);
}

void OwnNic::remove() {
  host_.transport().remove_device(*hca_);
  host_.send_packets(*hca_, interface_);
  hca_->remove();
  running_ = nullptr;
  host_.runtime().deadlines_moved() = true;
}

Result<void> OwnNic::set_port(std::uint8_t port, ibv_port_state state) {
  if (running_->state_of(port) == state) return verbs::errno_code(EALREADY);
  running_->set_state_of(port, state);
  // A port without a link drops packets without a report.
  if (state != IBV_PORT_ACTIVE) host_.world().lose_message(host_, nullptr);
  return {};
}

Result<void> OwnNic::bring_back(bool new_guid) {
  HcaConfig config = hca_->config();
  if (new_guid) config.node_guid = wire::Guid{value(config.node_guid) + 1};
  replaced_.push_back(std::move(hca_));
  plug(config);
  return {};
}

void OwnNic::replace_gid(std::uint8_t port, const ibv_gid& old, const ibv_gid& gid) {
  if (running_ == nullptr) return;
  const verbs::CriticalSection section(host_.runtime());
  const auto gids = running_->gids_of(port);
  const auto at =
      std::find_if(gids.begin(), gids.end(), [&](const ibv_gid& each) { return same(each, old); });
  if (at == gids.end()) return;
  running_->set_port_gid(port, static_cast<std::uint32_t>(at - gids.begin()), gid);
}

void OwnNic::on_kill() {
  if (running_ == nullptr) return;
  host_.transport().remove_device(*hca_);
  host_.send_packets(*hca_, interface_);
}

void OwnNic::start_anew() {
  hca_->set_call_gate(nullptr);
  if (running_ == nullptr) return;
  const HcaConfig config = hca_->config();
  replaced_.push_back(std::move(hca_));
  plug(config);
}

}  // namespace anyrdma::sim
