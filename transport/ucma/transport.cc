#include "transport/ucma/transport.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "verbs/assert.h"

namespace anyrdma::transport::ucma {
namespace {

/// L/cma.c:rdma_create_id.
ibv_qp_type implied_type(rdma_port_space space) {
  return space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

}  // namespace

UcmaTransport::UcmaTransport(const CmFunctions& system, verbs::Provider& provider,
                             verbs::Runtime& runtime)
    : system_(system), provider_(provider), runtime_(runtime) {}

UcmaTransport::~UcmaTransport() {
  for (const Generation& each : generations_) system_.free_devices(each.list);
  if (channel_ != nullptr) system_.destroy_event_channel(channel_);
}

Result<void> UcmaTransport::open() {
  channel_ = system_.create_event_channel();
  if (channel_ == nullptr) return verbs::errno_code(system_.last_error());
  const int flags = ::fcntl(channel_->fd, F_GETFL);
  if (flags < 0 || ::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return verbs::errno_code(errno);
  }
  return {};
}

void UcmaTransport::close() {
  if (channel_ != nullptr && channel_->fd >= 0) ::close(std::exchange(channel_->fd, -1));
}

// --- devices ------------------------------------------------------------------------------------

std::span<ibv_device* const> UcmaTransport::devices() {
  int count = 0;
  ibv_context** const list = system_.get_devices(&count);
  std::vector<ibv_device*> now;
  for (int i = 0; list != nullptr && i < count; ++i) now.push_back(list[i]->device);
  if (!generations_.empty() && generations_.front().devices == now) {
    if (list != nullptr) system_.free_devices(list);
  } else if (list != nullptr) {
    generations_.push_front({list, std::move(now)});
  } else {
    return {};
  }
  return generations_.front().devices;
}

ibv_context* UcmaTransport::context_of(ibv_device* device) {
  if (generations_.empty()) (void)devices();
  for (const Generation& each : generations_) {
    const auto found = std::ranges::find(each.devices, device);
    if (found != each.devices.end()) return each.list[found - each.devices.begin()];
  }
  CM_ASSERT(!"a device of another transport");
  std::abort();
}

// --- endpoints ----------------------------------------------------------------------------------

Result<std::unique_ptr<Endpoint>> UcmaTransport::create_endpoint(rdma_port_space space,
                                                                 ibv_qp_type type,
                                                                 EndpointHandler& handler) {
  if (type != implied_type(space)) return verbs::errno_code(EOPNOTSUPP);
  rdma_cm_id* id = nullptr;
  if (auto made = system_.done(system_.create_id(channel_, &id, nullptr, space)); !made) {
    return made.error();
  }
  return std::unique_ptr<Endpoint>(std::make_unique<UcmaEndpoint>(system_, *this, *id, &handler));
}

void UcmaTransport::take_events() {
  rdma_cm_event* event = nullptr;
  while (system_.get_cm_event(channel_, &event) == 0) dispatch(*event);
}

void UcmaTransport::dispatch(rdma_cm_event& event) {
  const bool request = event.event == RDMA_CM_EVENT_CONNECT_REQUEST;
  rdma_cm_id& id = *event.id;
  auto& endpoint = *static_cast<UcmaEndpoint*>(request ? event.listen_id->context : id.context);
  ibv_ece ece{};
  if (request || event.event == RDMA_CM_EVENT_CONNECT_RESPONSE) {
    (void)system_.get_remote_ece(&id, &ece);  // leaves it empty when it fails
  }
  const Event copy(event, id.qp_type, ece);
  (void)system_.ack_cm_event(&event);
  if (request) {
    endpoint.on_request(copy, id);
  } else {
    endpoint.on_event(copy);
  }
}

// --- requests that wait -------------------------------------------------------------------------

void UcmaTransport::keep_offering(UcmaEndpoint& listener) {
  crowded_.push_back(&listener);
  runtime_.call_driver();
}

void UcmaTransport::stop_offering(UcmaEndpoint& listener) {
  std::erase(crowded_, &listener);
}

/// There is no report that a handler has room again, so each thread that leaves asks while requests
/// wait.
void UcmaTransport::catch_up() {
  std::erase_if(crowded_, [](UcmaEndpoint* listener) { return !listener->offer_again(); });
  if (!crowded_.empty()) runtime_.call_driver();
}

}  // namespace anyrdma::transport::ucma
