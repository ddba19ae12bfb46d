#include "transport/soft/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/assert.h"

namespace anyrdma::transport::soft {
namespace {

wire::Psn draw_psn(verbs::Random& random) {
  return wire::Psn(static_cast<std::uint32_t>(random.next()));
}

/// An int option, as the application's memory holds it.
bool is_set(std::span<const std::uint8_t> value) {
  return std::any_of(value.begin(), value.end(), [](std::uint8_t byte) { return byte != 0; });
}

/// Link-local addresses travel without their scope: it is the interface they came in by.
Address scoped(Address address, int interface) {
  if (address.is_link_local()) address.scope = static_cast<std::uint32_t>(interface);
  return address;
}

}  // namespace

SoftEndpoint::SoftEndpoint(Core& core, rdma_port_space space, ibv_qp_type type,
                           EndpointHandler& handler)
    : core_(core),
      handler_(&handler),
      handle_(core.endpoints.add(*this)),
      space_(space),
      type_(type),
      process_(core.runtime.process()),
      psn_(draw_psn(core.random)) {
  if (type == IBV_QPT_UD) datagram_ = std::make_unique<Datagram>();
}

SoftEndpoint::SoftEndpoint(Core& core, const SoftEndpoint& listener, Device& device,
                           const CmaHeader& header, wire::CommId comm_id)
    : SoftEndpoint(core, listener.space_, listener.type_, *listener.handler_) {
  process_ = listener.process_;
  state_ = State::kConnect;
  active_ = false;
  reports_events_ = false;
  comm_id_ = comm_id;
  if (const auto info = device.agent->info(comm_id)) path_ = info->path;
  if (listener.source_.family == AF_IB) {  // kernel: cma_save_ib_info
    source_ = {.family = AF_IB, .scope = listener.source_.scope, .ip = path_.source};
    destination_ = {.family = AF_IB, .ip = path_.destination};
  } else {
    source_ = scoped(header.destination, device.interface);
    destination_ = scoped(header.source, device.interface);
  }
  source_.port = listener.source_.port;
  attach(device);
  note_own_link();
  device.connections.emplace(wire::value(comm_id), this);
  if (!datagram_) fill_path_record();  // kernel: cma_ib_new_udp_id makes none
}

SoftEndpoint::~SoftEndpoint() {
  release();
  core_.endpoints.remove(handle_);
}

void SoftEndpoint::release() {
  if (std::exchange(is_asking_, false)) core_.network.cancel_neighbour(token());
  if (state_ == State::kListen) {
    const ibcm::ServiceId service = own_service();
    core_.listeners.remove(service, *this);
    if (device_ != nullptr) device_->agent->unlisten(service);
    if (device_ == nullptr) {
      for (const auto& device : core_.devices) device->agent->unlisten(service);
    }
  }
  if (comm_id_) {
    CM_ASSERT(device_ != nullptr);  // a CM id belongs to a device's agent
    device_->connections.erase(wire::value(*comm_id_));
    device_->agent->destroy(core_.runtime.now(), *comm_id_);
    comm_id_.reset();
  }
  if (datagram_) {
    for (const Membership& each : datagram_->memberships) leave_group(each);
    datagram_->memberships.clear();
  }
  if (claim_) core_.ports.release(*claim_);
  claim_.reset();
}

void SoftEndpoint::enter(State next) {
  if (std::exchange(state_, next) != next) handler_->on_state(to_string(next));
}

Result<void> SoftEndpoint::admits(Call call) const {
  const int error = verdict_on(call, {.state = state_,
                                      .type = type_,
                                      .on_device = device_ != nullptr,
                                      .has_cm_id = comm_id_.has_value() || listens_on_device()});
  if (error != 0) return verbs::errno_code(error);
  return {};
}

void SoftEndpoint::raise(const EndpointEvent& event) {
  const std::optional<State> next = state_after(event.type, state_);
  if (!next) return;
  enter(*next);
  if (reports_events_) handler_->on_event(event);
}

// The kernel's ucma_event_handler counts the requests that wait, ucma_get_event those that are
// fetched.
EndpointHandler* SoftEndpoint::offer(std::unique_ptr<Endpoint>& child, const EndpointEvent& event) {
  if (room_ <= 0 || !state_after(event.type, state_)) return nullptr;
  EndpointHandler* const owner = handler_->on_connect_request(child, event);
  if (owner != nullptr) --room_;
  return owner;
}

void SoftEndpoint::on_device_removed() {
  queue(RDMA_CM_EVENT_DEVICE_REMOVAL);
  release();
  enter(State::kDeviceRemoval);
  AttachedHook::unlink();
  device_ = nullptr;
}

void SoftEndpoint::abandon_request() {
  device_->connections.erase(wire::value(*comm_id_));
  comm_id_.reset();
}

void SoftEndpoint::queue(rdma_cm_event_type type, int status, MembershipId membership) {
  core_.pending.push(
      {.endpoint = handle_, .type = type, .status = status, .membership = membership});
}

void SoftEndpoint::attach(Device& device) {
  if (device_ != nullptr) return;
  device_ = &device;
  device.attached.push_back(*this);
}

ibcm::ServiceId SoftEndpoint::service_id(std::uint16_t port) const {
  return ibcm::ServiceId{static_cast<std::uint64_t>(port_space()) << 16 | port};
}

bool SoftEndpoint::listens_for(const Address& local, const Device& device) const {
  if (source_.family == AF_IB) return true;
  if (is_wildcard()) return !claim().afonly || source_.family == local.family;
  return device_ == &device && source_.same_ip(local);
}

// The kernel looks the id up before it looks at the option (ucma.c:ucma_set_option).
Result<void> SoftEndpoint::set_option(int level, int option, std::span<const std::uint8_t> value) {
  if (Result<void> alive = admits(Call::kQuery); !alive) return alive;
  const std::optional<Call> call = call_of_option(level, option, value);
  if (!call) return verbs::errno_code(ENOSYS);
  if (*call == Call::kSetIbPath) return set_path(value);
  const bool is_byte = *call == Call::kSetTos || *call == Call::kSetAckTimeout;
  if (value.size() != (is_byte ? 1 : sizeof(int))) return verbs::errno_code(EINVAL);
  if (Result<void> legal = admits(*call); !legal) return legal;
  if (*call == Call::kSetTos) traffic_class_ = value[0];
  if (*call == Call::kSetAckTimeout) ack_timeout_ = value[0];
  if (*call == Call::kSetAfOnly) afonly_ = is_set(value);
  if (*call == Call::kSetReuseAddr || *call == Call::kClearReuseAddr) reuse_ = is_set(value);
  if (!is_byte) update_claim();
  return {};
}

Binding SoftEndpoint::binding() const {
  Binding binding;
  binding.addr.src_storage = source_.to_sockaddr();
  binding.addr.dst_storage = destination_.to_sockaddr();
  // Binding decides the family of both (K/cma:rdma_bind_addr_dst).
  binding.addr.dst_storage.ss_family = source_.family;
  if (device_ == nullptr) return binding;
  binding.verbs = device_->context_of(process_);
  binding.port_num = device_->port;
  rdma_ib_addr& ib = binding.addr.addr.ibaddr;
  std::memcpy(ib.sgid.raw, path_.source.data(), path_.source.size());
  std::memcpy(ib.dgid.raw, path_.destination.data(), path_.destination.size());
  ib.pkey = 0;  // RoCE has no broadcast address to keep it in (kernel: ib_addr_get_pkey)
  return binding;
}

const ibv_sa_path_rec* SoftEndpoint::path() const {
  return path_record_ && state_ != State::kDeviceRemoval ? &*path_record_ : nullptr;
}

}  // namespace anyrdma::transport::soft
