#include "transport/station/engine.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <utility>

#include "transport/realtime/guarded_access.h"

namespace anyrdma::transport::station {
namespace {

bool may_bind_low_ports() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return ::geteuid() == 0;
  return (data[0].effective & (1u << CAP_NET_BIND_SERVICE)) != 0;
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

verbs::Result<void> Engine::build(const verbs::soft::HcaConfig& device,
                                  std::span<const ibv_gid> gids, soft::Network& network,
                                  int interface, soft::PortTable& ports,
                                  const soft::SoftTransportConfig& config) {
  hca_ = verbs::soft::Hca::create(driver_, random_, pool_, device);
  hca_->set_memory_guard(realtime::guarded);
  hca_->set_outlet(&driver_);
  {
    const verbs::CriticalSection section(driver_);
    for (std::uint32_t i = 0; i < gids.size(); ++i) hca_->set_gid(i, gids[i]);
  }
  transport_ = soft::SoftTransport::create(driver_, random_, network, ports, config);
  return transport_->add_device(*hca_, interface);
}

verbs::Result<void> Engine::start(std::unique_ptr<Carrier> carrier) {
  carrier_ = std::move(carrier);
  {
    const verbs::CriticalSection section(driver_);
    driver_.attach({hca_.get(), transport_.get(), carrier_.get()});
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

verbs::Result<void> Engine::remove_device() {
  if (std::exchange(removed_, true)) return verbs::errno_code(ENODEV);
  transport_->remove_device(*hca_);
  driver_.settle();  // the device's last words are on their way before it goes
  hca_->remove();
  driver_.call_driver();
  return {};
}

verbs::Result<void> Engine::set_port(bool active) {
  const ibv_port_state state = active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  if (removed_) return verbs::errno_code(ENODEV);
  if (hca_->port_state() == state) return verbs::errno_code(EALREADY);
  hca_->set_port_state(state);
  driver_.call_driver();
  return {};
}

verbs::Result<void> Engine::raise_event(ibv_event_type event) {
  if (removed_) return verbs::errno_code(ENODEV);
  hca_->raise_event(event);
  driver_.call_driver();
  return {};
}

void Engine::set_admission(soft::Admission* admission) {
  const verbs::CriticalSection section(driver_);
  transport_->set_admission(admission);
}

void Engine::set_call_gate(verbs::CallGate* gate) {
  hca_->set_call_gate(gate);  // enters the critical section
}

std::function<void(verbs::soft::PacketPtr)> Engine::delivery_to(Carrier::Receiver* next) {
  return [this, next](verbs::soft::PacketPtr packet) {
    if (next != nullptr) return next->on_packet(std::move(packet));
    hca_->on_packet(driver_.now(), std::move(packet));
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
  driver_.attach({hca_.get(), transport_.get(), mishaps_, mishaps_});
}

void Engine::set_packet_watch(PacketWatch* watch) {
  const verbs::CriticalSection section(driver_);
  if (watched_ != nullptr) return watched_->set_watch(watch);
  if (watch == nullptr || !driver_.is_attached()) return;
  Carrier::Receiver* const next = mishaps_;
  auto watched = std::make_unique<WatchedCarrier>(std::move(carrier_), delivery_to(next), watch);
  watched_ = watched.get();
  carrier_ = std::move(watched);
  driver_.attach({hca_.get(), transport_.get(), watched_, watched_});
}

void Engine::set_work_observer(verbs::soft::HcaObserver* observer) {
  const verbs::CriticalSection section(driver_);
  hca_->set_observer(observer);
}

void Engine::set_ownership_sink(verbs::soft::OwnershipSink* sink) {
  const verbs::CriticalSection section(driver_);
  hca_->set_ownership_sink(sink);
  driver_.set_ownership_sink(sink);
}

void Engine::after_fork_in_child() {
  forked_.store(true, std::memory_order_relaxed);
  driver_.after_fork_in_child();
}

}  // namespace anyrdma::transport::station
