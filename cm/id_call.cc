// The calls, one by one: what librdmacm does around what the endpoint decides and does.
#include <cstring>
#include <utility>

#include "cm/address.h"
#include "cm/device_use.h"
#include "cm/id.h"

namespace anyrdma::cm {
namespace {

constexpr std::uint8_t kRejectConsumerDefined = 28;
constexpr std::uint8_t kRejectVendorOption = 35;

}  // namespace

std::string_view Id::state() const {
  return endpoint_ != nullptr ? endpoint_->state() : std::string_view{};
}

Result<void> Id::check(Call call) const {
  if (endpoint_ == nullptr) return verbs::errno_code(ENOENT);
  return endpoint_->admits(call);
}

Result<void> Id::refused(Call call, Result<void> why) const {
  if (auto* observer = transport_.call_observer(); observer != nullptr)
    observer->on_refused(number_, to_string(call), why.error().value());
  return why;
}

Result<void> Id::refuse(Call call, Result<void> why) const {
  const verbs::CriticalSection section(transport_.runtime());
  return refused(call, std::move(why));
}

Result<void> Id::admit(Call call) {
  const int error = transport_.call_gate()->on_call(number_, to_string(call));
  if (error == 0) return {};
  // Whatever accept fails with, the request is rejected (K/cma.c:rdma_accept).
  if (call == Call::kAccept) {
    (void)endpoint_->reject(kRejectConsumerDefined, {}).has_value();
  }
  return verbs::errno_code(error);
}

void Id::report_call(std::string_view call, int error) const {
  transport_.call_observer()->on_call(number_, call, error);
}

void Id::report_handshake(std::string_view call,
                          const transport::ConnectionParameters& given) const {
  if (transport_.call_observer() == nullptr) return;
  transport_.call_observer()->on_handshake(number_, raw_.id, call, given);
}

Result<void> Id::adopt(const transport::Binding& binding) {
  raw_.id.route.addr = binding.addr;
  if (binding.verbs == nullptr || device_ != nullptr) return {};
  Result<DeviceUse*> use = DeviceUses::acquire(transport_, binding.verbs);
  if (!use) return use.error();
  device_ = *use;
  raw_.id.verbs = binding.verbs;
  raw_.id.port_num = binding.port_num;
  raw_.id.pd = device_->pd;
  return {};
}

Result<void> Id::bind(const sockaddr* local) {
  if (Result<void> sane = check_address(local); !sane) return refuse(Call::kBind, sane);
  transport::Binding binding;
  {
    verbs::CriticalSection section(runtime());
    Result<void> bound = perform(Call::kBind, [&] { return endpoint_->bind(*local); });
    if (!bound) return bound;
    binding = endpoint_->binding();
  }
  return adopt(binding);
}

Result<void> Id::resolve_addr(const sockaddr* source, const sockaddr* destination,
                              std::chrono::milliseconds timeout) {
  if (Result<void> sane = check_address(destination); !sane)
    return refuse(Call::kResolveAddr, sane);
  if (source != nullptr && length_of(*source) == 0)
    return refuse(Call::kResolveAddr, verbs::errno_code(EINVAL));
  {
    verbs::CriticalSection section(runtime());
    Result<void> started = perform(Call::kResolveAddr, [&] {
      return endpoint_->resolve_address(source, *destination, timeout);
    });
    if (!started) return started;
    std::memcpy(&raw_.id.route.addr.dst_storage, destination, length_of(*destination));
  }
  return complete();
}

Result<void> Id::resolve_route(std::chrono::milliseconds timeout) {
  return perform_and_complete(Call::kResolveRoute, [&]() -> Result<void> {
    if (raw_.id.verbs == nullptr) return verbs::errno_code(EINVAL);  // ADDR_RESOLVED not fetched
    return endpoint_->resolve_route(timeout);
  });
}

Result<void> Id::listen(int backlog) {
  transport::Binding binding;
  {
    verbs::CriticalSection section(runtime());
    Result<void> listening = perform(Call::kListen, [&] { return endpoint_->listen(backlog); });
    if (!listening) return listening;
    binding = endpoint_->binding();
  }
  return adopt(binding);
}

__be16 Id::src_port() const {
  return port_of(local_address());
}

__be16 Id::dst_port() const {
  return port_of(peer_address());
}

void Id::describe_qp(transport::ConnectionParameters& parameters) const {
  parameters.qp_type = raw_.id.qp_type;
  if (raw_.id.qp == nullptr) return;
  parameters.qp_num = raw_.id.qp->qp_num;
  parameters.srq = raw_.id.qp->srq != nullptr ? 1 : 0;
}

Result<void> Id::connect(const rdma_conn_param* param) {
  return perform_and_complete(Call::kConnect, [&]() -> Result<void> {
    if (device_ == nullptr) return verbs::errno_code(EINVAL);  // ADDR_RESOLVED was not fetched
    Result<void> sane = check_conn_param(param, raw_.id.ps, raw_.id.qp != nullptr, device_->limits);
    if (!sane) return sane;
    transport::ConnectionParameters parameters = parameters_for_connect(param, device_->limits);
    describe_qp(parameters);
    parameters.ece = local_ece_;
    return connect_with_prefix(parameters);
  });
}

Result<void> Id::connect_with_prefix(transport::ConnectionParameters& parameters) {
  PrivateDataBuffer buffer;
  if (ep_ != nullptr) {
    auto data = ep_->prefixed(parameters.private_data, buffer);
    if (!data) return data.error();
    parameters.private_data = *data;
  }
  Result<void> connecting = endpoint_->connect(parameters);
  if (!connecting) return connecting;
  if (ep_ != nullptr) ep_->connect_prefix.clear();
  report_handshake("connect", parameters);
  return connecting;
}

Result<void> Id::accept(const rdma_conn_param* param) {
  transport::ConnectionParameters parameters;
  {
    verbs::CriticalSection section(runtime());
    if (Result<void> legal = check(Call::kAccept); !legal) return refused(Call::kAccept, legal);
    // In any port space somebody has to name the QP (librdmacm crashes here).
    if (device_ == nullptr || (raw_.id.qp == nullptr && param == nullptr))
      return refused(Call::kAccept, verbs::errno_code(EINVAL));
    Result<void> sane = check_conn_param(param, raw_.id.ps, raw_.id.qp != nullptr, device_->limits);
    if (!sane) return refused(Call::kAccept, sane);
    parameters = parameters_for_accept(param, device_->limits, requested_);
    describe_qp(parameters);
    parameters.ece = {remote_ece_.vendor_id, local_ece_.options, 0};
  }
  if (raw_.id.qp != nullptr && raw_.id.qp_type != IBV_QPT_UD) {
    // Before the reply leaves, so that the peer's first message finds the QP ready.
    const Depths depths{parameters.responder_resources, parameters.initiator_depth};
    if (Result<void> up = bring_qp_up(&depths); !up) return refuse(Call::kAccept, up);
  }
  Result<void> accepted;
  {
    verbs::CriticalSection section(runtime());
    accepted = perform(Call::kAccept, [&] { return endpoint_->accept(parameters); });
    if (accepted) {
      accepted_qpn_ = parameters.qp_num;
      report_handshake("accept", parameters);
    }
  }
  if (!accepted) {
    (void)flush_qp().has_value();
    return accepted;
  }
  if (raw_.id.qp_type == IBV_QPT_UD) {  // no event will come (L/rdma_accept)
    // As rdma-core does from 52 on: the listener's end would wait for it for ever.
    if (private_channel_ != nullptr) private_channel_->forget();
    return {};
  }
  return complete();
}

Result<void> Id::reject(std::span<const std::uint8_t> private_data) {
  return reject_with(kRejectConsumerDefined, private_data);
}

Result<void> Id::reject_ece(std::span<const std::uint8_t> private_data) {
  return reject_with(kRejectVendorOption, private_data);
}

Result<void> Id::reject_with(std::uint8_t reason, std::span<const std::uint8_t> data) {
  verbs::CriticalSection section(runtime());
  return perform(Call::kReject, [&] {
    Result<void> rejected = endpoint_->reject(reason, data);
    if (rejected) report_handshake("reject", {.private_data = data});
    return rejected;
  });
}

// The queue pair is flushed before the kernel is asked whether there is anything to end
// (L/rdma_disconnect, which crashes on an id without a device).
Result<void> Id::disconnect() {
  {
    verbs::CriticalSection section(runtime());
    Result<void> alive = check(Call::kQuery);
    if (alive && raw_.id.verbs == nullptr) alive = verbs::errno_code(EINVAL);
    if (!alive) return refused(Call::kDisconnect, alive);
  }
  if (Result<void> flushed = flush_qp(); !flushed) return refuse(Call::kDisconnect, flushed);
  return perform_and_complete(Call::kDisconnect, [&] { return endpoint_->disconnect(); });
}

Result<void> Id::establish() {
  verbs::CriticalSection section(runtime());
  return perform(Call::kEstablish, [&]() -> Result<void> {
    if (raw_.id.qp != nullptr) return verbs::errno_code(EINVAL);
    return endpoint_->establish();
  });
}

Result<void> Id::notify(ibv_event_type event) {
  verbs::CriticalSection section(runtime());
  return notify_inside(event);
}

Result<void> Id::notify_inside(ibv_event_type event) {
  return perform(Call::kNotify, [&] { return endpoint_->notify(event); });
}

bool Id::speaks_for(const ibv_qp& qp) const {
  if (raw_.id.qp != nullptr) return raw_.id.qp == &qp;
  return raw_.id.verbs == qp.context && accepted_qpn_ == qp.qp_num && accepted_qpn_ != 0;
}

}  // namespace anyrdma::cm
