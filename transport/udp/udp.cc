#include "transport/udp/udp.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

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
  constexpr std::uint32_t kFirstQpn = 0x11;
  const std::uint32_t count = std::clamp(like.max_qp, kQpnCount, kQpnCountMost);
  const std::uint32_t last_start = verbs::soft::kQpnEnd - count;
  const std::uint64_t guid = kLocallyAdministered | (random.next() & kFreeBits);
  verbs::soft::HcaConfig device{
      .node_guid = wire::Guid{guid},
      .active_mtu = mtu,
      .qpn_first = kFirstQpn + static_cast<std::uint32_t>(random.next() % (last_start - kFirstQpn)),
      .qpn_count = count};
  verbs::soft::resemble(device, like);
  return device;
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
  const station::EngineDevice device{new_device(config.device, random_, host_->path_mtu()),
                                     {{host_->gids(), host_->interface()}}};
  const Result<void> built =
      engine_.build({&device, 1}, *host_, ports_,
                    {.profile = config.profile, .loopback_is_routed = host_->only_loopback()});
  if (!built) return make_error_code(UdpErrc::kNoResources);
  host_->attach(engine_.transport());
  if (!engine_.start(std::move(host_))) return make_error_code(UdpErrc::kNoResources);
  return {};
}

/// What must be done in the network namespace itself.
Result<void> UdpImpl::open_here(const UdpConfig& config) {
  auto addresses = local_addresses(config.addresses);
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
