#include "transport/udp/udp.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/realtime/cancellation.h"
#include "transport/realtime/fork_guard.h"
#include "transport/realtime/system_random.h"
#include "transport/station/engine.h"
#include "transport/udp/host.h"
#include "transport/udp/local_addresses.h"
#include "transport/udp/network_namespace.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::transport::udp {
namespace {

using verbs::Result;

/// So many numbers at least; no more of a device than leaves them a choice of where to begin.
constexpr std::uint32_t kQpnCount = 1 << 16;
constexpr std::uint32_t kQpnCountMost = 1 << 22;

UdpErrc socket_error(int error) {
  switch (error) {
    case EADDRINUSE:
      return UdpErrc::kPortTaken;
    case EADDRNOTAVAIL:
      return UdpErrc::kNotLocal;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
      return UdpErrc::kNoResources;
    default:
      return UdpErrc::kNoSocket;
  }
}

UdpErrc namespace_error(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return UdpErrc::kNotPermitted;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return UdpErrc::kNoResources;
    default:
      return UdpErrc::kNoNamespace;
  }
}

/// Peers remember connections by the device and its queue pair numbers, also those of a process
/// that is gone (kernel: cm_insert_remote_qpn). So neither is ever the same again.
verbs::soft::HcaConfig new_device(const verbs::soft::HcaConfig& like, verbs::Random& random,
                                  ibv_mtu mtu) {
  constexpr std::uint64_t kLocallyAdministered = 0x0200'0000'0000'0000;
  constexpr std::uint64_t kFreeBits = 0x00ff'ffff'ffff'ffff;
  const std::uint64_t guid = kLocallyAdministered | (random.next() & kFreeBits);
  verbs::soft::HcaConfig device{.node_guid = wire::Guid{guid}, .active_mtu = mtu};
  verbs::soft::resemble(device, like);
  return device;
}

/// No two devices of a process share a number, so that a reader of its recording needs no device.
void number_queue_pairs(std::span<station::EngineDevice> devices, std::uint32_t wanted,
                        verbs::Random& random) {
  constexpr std::uint32_t kFirstQpn = 0x11;
  const auto number = static_cast<std::uint32_t>(devices.size());
  const std::uint32_t most =
      std::min(kQpnCountMost, (verbs::soft::kQpnEnd - kFirstQpn) / 2 / number);
  const std::uint32_t count = std::clamp(wanted, kQpnCount, most);
  const std::uint32_t last_start = verbs::soft::kQpnEnd - count * number;
  std::uint32_t first =
      kFirstQpn + static_cast<std::uint32_t>(random.next() % (last_start - kFirstQpn));
  for (station::EngineDevice& device : devices) {
    device.config.qpn_first = std::exchange(first, first + count);
    device.config.qpn_count = count;
  }
}

class UdpImpl final : public Udp {
 public:
  [[nodiscard]] Result<void> open(const UdpConfig& config);
  Transport& transport() override { return engine_.transport(); }
  bool forked() const override { return engine_.forked(); }
  void retire() override { engine_.retire(); }
  realtime::Epilogue& epilogue() override { return engine_.epilogue(); }
  Result<void> remove_device(std::size_t rail) override { return engine_.remove_device(rail); }
  Result<void> set_port(std::size_t rail, bool active) override {
    return engine_.set_port(rail, active);
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
  [[nodiscard]] Result<void> open_here(const UdpConfig& config);

  // In the order in which each needs those before it.
  realtime::SystemRandom random_;
  soft::LocalPortTable ports_{random_, station::system_port_rules()};
  station::Engine engine_{random_};
  std::unique_ptr<UdpHost> host_;  ///< until the engine has it
};

Result<void> UdpImpl::open(const UdpConfig& config) {
  const realtime::CancellationOff off;
  const auto no_forks = realtime::hold_off_forks();
  Result<void> opened;
  const auto entered =
      in_network_namespace(config.network_namespace, [&] { opened = open_here(config); });
  if (!entered) return make_error_code(namespace_error(entered.error().value()));
  if (!opened) return opened;
  std::vector<station::EngineDevice> devices;
  for (std::size_t i = 0; i < host_->devices(); ++i) {
    devices.push_back({new_device(config.device, random_, host_->path_mtu(i)),
                       {{host_->gids(i), host_->interface(i)}}});
    devices.back().config.name = "anyrdma" + std::to_string(i);
  }
  number_queue_pairs(devices, config.device.max_qp, random_);
  const Result<void> built =
      engine_.build(devices, *host_, ports_,
                    {.profile = config.profile, .loopback_is_routed = host_->only_loopback()});
  if (!built) return make_error_code(UdpErrc::kNoResources);
  host_->attach(engine_.transport());
  if (!engine_.start(std::move(host_))) return make_error_code(UdpErrc::kNoResources);
  return {};
}

/// What must be done in the network namespace itself.
Result<void> UdpImpl::open_here(const UdpConfig& config) {
  auto addresses =
      config.devices.empty() ? local_addresses(config.addresses) : local_addresses(config.devices);
  if (!addresses) return addresses.error();
  auto host = UdpHost::create({.addresses = std::move(*addresses),
                               .port = config.port,
                               .network_namespace = config.network_namespace},
                              engine_.pool(), engine_.receiver());
  if (!host) return make_error_code(socket_error(host.error().value()));
  host_ = std::move(*host);
  return {};
}

}  // namespace

Result<std::unique_ptr<Udp>> Udp::open(const UdpConfig& config) {
  auto udp = std::make_unique<UdpImpl>();
  if (Result<void> opened = udp->open(config); !opened) return opened.error();
  return std::unique_ptr<Udp>(std::move(udp));
}

}  // namespace anyrdma::transport::udp
