#include "transport/station/engine.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <span>
#include <utility>

#include "transport/realtime/guarded_access.h"
#include "verbs/assert.h"

namespace anyrdma::transport::station {
namespace {

bool may_bind_low_ports() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return ::geteuid() == 0;
  return (data[0].effective & (1u << CAP_NET_BIND_SERVICE)) != 0;
}

/// For a port whose table is empty. Call it inside the critical section.
void fill_gids(verbs::soft::Hca& hca, std::uint8_t port, std::span<const ibv_gid> gids) {
  std::uint32_t index = 0;
  for (const ibv_gid& gid : gids) hca.set_port_gid(port, index++, gid);
}

}  // namespace

soft::PortTableConfig system_port_rules() {
  soft::PortTableConfig config;
  config.privileged = may_bind_low_ports();
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  if (range >> first >> last && first != 0 && first <= last) {
    config.ephemeral_first = first;
    config.ephemeral_last = last;
  }
  return config;
}

verbs::Result<void> Engine::build(std::span<const EngineDevice> devices, soft::Network& network,
                                  soft::PortTable& ports, const soft::SoftTransportConfig& config) {
  transport_ = soft::SoftTransport::create(driver_, random_, network, ports, config);
  for (const EngineDevice& device : devices) {
    if (auto added = add(device); !added) return added;
  }
  return {};
}

verbs::Result<void> Engine::add(const EngineDevice& device) {
  CM_ASSERT(!device.ports.empty());
  verbs::soft::HcaConfig config = device.config;
  config.ports = static_cast<std::uint8_t>(device.ports.size());
  verbs::soft::Hca& hca = *hcas_.emplace_back(make_hca(config));
  present_.push_back(&hca);
  states_.emplace_back();
  std::uint8_t number = 0;
  for (const EnginePort& port : device.ports) {
    rails_.push_back({&hca, ++number});
    interfaces_.push_back(port.interface);
    {
      const verbs::CriticalSection section(driver_);
      fill_gids(hca, number, port.gids);
    }
  }
  return connect(hca);
}

std::unique_ptr<verbs::soft::Hca> Engine::make_hca(const verbs::soft::HcaConfig& config) {
  auto hca = verbs::soft::Hca::create(driver_, random_, pool_, config);
  hca->count_with(made_);
  hca->set_memory_guard(realtime::guarded);
  hca->set_outlet(&driver_);
  return hca;
}

verbs::Result<void> Engine::start(std::unique_ptr<Carrier> carrier) {
  carrier_ = std::move(carrier);
  {
    const verbs::CriticalSection section(driver_);
    driver_.attach({.hcas = present_,
                    .rails = rails_,
                    .transport = transport_.get(),
                    .carrier = carrier_.get()});
  }
  if (verbs::Result<void> started = driver_.start(); !started) return started;
  realtime::remember(*this);
  remembered_ = true;
  return {};
}

Engine::~Engine() {
  retire();
  if (remembered_) {
    const auto no_forks = realtime::hold_off_forks();
    realtime::forget(*this);
  }
  driver_.detach();
}

std::size_t Engine::device_of(std::size_t rail) const {
  return static_cast<std::size_t>(std::ranges::find(present_, rails_[rail].hca) - present_.begin());
}

verbs::Result<void> Engine::remove_device(std::size_t rail) {
  verbs::soft::Hca& hca = *rails_[rail].hca;
  State& state = states_[device_of(rail)];
  if (state.removed) return verbs::errno_code(ENODEV);
  state.removed = true;
  transport_->remove_device(hca);
  driver_.settle();  // the device's last words are on their way before it goes
  hca.remove();
  driver_.call_driver();
  return {};
}

verbs::Result<void> Engine::return_device(Return device) {
  if (!states_[device_of(device.rail)].removed) return verbs::errno_code(ENODEV);
  driver_.call_outside([this, device = std::move(device)] { plug(device); });
  return {};
}

void Engine::plug(const Return& device) {
  verbs::soft::Hca& old = *rails_[device.rail].hca;
  const std::size_t number = device_of(device.rail);
  verbs::soft::HcaConfig config = old.config();
  if (device.new_guid) config.node_guid = wire::Guid{value(config.node_guid) + 1};
  // Queue pairs of the removed device still exist: a reader of the recording tells them apart by
  // their numbers.
  if (const std::uint32_t rest = config.qpn_count / 2; rest != 0) {
    config.qpn_first += config.qpn_count - rest;
    config.qpn_count = rest;
  }
  std::unique_ptr<verbs::soft::Hca> hca = make_hca(config);
  device.equip(*hca);
  {
    const verbs::CriticalSection section(driver_);
    for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
      if (rails_[rail].hca != &old) continue;
      rails_[rail].hca = hca.get();
      fill_gids(*hca, rails_[rail].port, device.gids(rail));
    }
    hca->set_observer(states_[number].observer);
    hca->set_ownership_sink(ownership_sink_);
    present_[number] = hca.get();
    driver_.replace(old, *hca);
    replaced_.push_back(std::exchange(hcas_[number], std::move(hca)));
  }
  // Fails only if the process has no descriptors left: then it sees no device.
  const bool added = connect(*hcas_[number]).has_value();
  hcas_[number]->set_call_gate(gate_);
  const verbs::CriticalSection section(driver_);
  states_[number].removed = !added;
  device.on_done();
  driver_.call_driver();
}

verbs::Result<void> Engine::connect(verbs::soft::Hca& hca) {
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    const auto [own, port] = rails_[i];
    if (own != &hca) continue;
    auto added = port == 1 ? transport_->add_device(hca, interfaces_[i])
                           : transport_->add_port(hca, port, interfaces_[i]);
    if (!added) return added;
  }
  return {};
}

verbs::Result<void> Engine::set_port(std::size_t rail, bool active) {
  const auto [hca, port] = rails_[rail];
  const ibv_port_state state = active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  if (states_[device_of(rail)].removed) return verbs::errno_code(ENODEV);
  if (hca->state_of(port) == state) return verbs::errno_code(EALREADY);
  hca->set_state_of(port, state);
  driver_.call_driver();
  return {};
}

verbs::Result<void> Engine::raise_event(std::size_t rail, ibv_event_type event) {
  const auto [hca, port] = rails_[rail];
  if (states_[device_of(rail)].removed) return verbs::errno_code(ENODEV);
  hca->raise_event_of(port, event);
  driver_.call_driver();
  return {};
}

void Engine::set_admission(soft::Admission* admission) {
  const verbs::CriticalSection section(driver_);
  transport_->set_admission(admission);
}

void Engine::set_call_gate(verbs::CallGate* gate) {
  gate_ = gate;
  for (const auto& hca : hcas_) hca->set_call_gate(gate);  // enters the critical section
}

std::function<void(verbs::soft::PacketPtr)> Engine::delivery_to(Carrier::Receiver* next) {
  return [this, next](verbs::soft::PacketPtr packet) {
    if (next != nullptr) return next->on_packet(std::move(packet));
    driver_.deliver(driver_.now(), std::move(packet));
  };
}

void Engine::set_packet_gate(verbs::PacketGate* gate) {
  const verbs::CriticalSection section(driver_);
  if (mishaps_ != nullptr) return mishaps_->set_gate(gate);
  if (gate == nullptr || !driver_.is_attached()) return;
  Carrier::Receiver* const next = watched_;
  auto mishaps =
      std::make_unique<MishapCarrier>(std::move(carrier_), delivery_to(next), pool_, gate);
  mishaps_ = mishaps.get();
  carrier_ = std::move(mishaps);
  driver_.attach(*mishaps_, *mishaps_);
}

void Engine::set_packet_watch(PacketWatch* watch) {
  const verbs::CriticalSection section(driver_);
  if (watched_ != nullptr) return watched_->set_watch(watch);
  if (watch == nullptr || !driver_.is_attached()) return;
  Carrier::Receiver* const next = mishaps_;
  auto watched = std::make_unique<WatchedCarrier>(std::move(carrier_), delivery_to(next), watch);
  watched_ = watched.get();
  carrier_ = std::move(watched);
  driver_.attach(*watched_, *watched_);
}

void Engine::set_work_observer(std::size_t device, verbs::soft::HcaObserver* observer) {
  const verbs::CriticalSection section(driver_);
  states_[device].observer = observer;
  hcas_[device]->set_observer(observer);
}

void Engine::set_ownership_sink(verbs::soft::OwnershipSink* sink) {
  const verbs::CriticalSection section(driver_);
  ownership_sink_ = sink;
  for (const auto& hca : hcas_) hca->set_ownership_sink(sink);
  driver_.set_ownership_sink(sink);
}

void Engine::after_fork_in_child() {
  forked_.store(true, std::memory_order_relaxed);
  driver_.after_fork_in_child();
}

}  // namespace anyrdma::transport::station
