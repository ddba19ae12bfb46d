// How work flows through the transport: MADs up to the agents, messages down to the HCAs, events to
// the endpoints.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <variant>

#include "transport/soft/request.h"
#include "transport/soft/soft_transport.h"
#include "verbs/assert.h"
#include "verbs/overloaded.h"

namespace anyrdma::transport::soft {
namespace {

verbs::soft::MadAddress address_of(const ibcm::Path& path) {
  verbs::soft::MadAddress address{.qpn = wire::kGsiQpn, .traffic_class = path.traffic_class};
  std::memcpy(address.source.raw, path.source.data(), path.source.size());
  std::memcpy(address.destination.raw, path.destination.data(), path.destination.size());
  return address;
}

/// Seen from us: where it came from is where an answer goes.
ibcm::Path path_of(const verbs::soft::MadAddress& from) {
  ibcm::Path path{.traffic_class = from.traffic_class};
  std::memcpy(path.source.data(), from.destination.raw, path.source.size());
  std::memcpy(path.destination.data(), from.source.raw, path.destination.size());
  return path;
}

ibv_ece ece_of(const ibcm::Ece& ece) {
  return {.vendor_id = ece.vendor_id, .options = ece.options, .comp_mask = 0};
}

// Both directions swap: what one side offers to answer, the other may ask (kernel:
// cma_set_req_event_data). `data` is what the listener's user may see of the private data.
EndpointEvent request_event(const ibcm::Upcall& upcall, std::span<const std::uint8_t> data) {
  const ibcm::ReqParameters& req = upcall.req;
  EndpointEvent event{.type = RDMA_CM_EVENT_CONNECT_REQUEST, .private_data = data};
  if (upcall.kind == ibcm::UpcallKind::kSidrReqReceived) {
    static constexpr rdma_ud_param kNothingKnown{};  // the answer goes to the process that asked
    event.ud = &kNothingKnown;
    return event;
  }
  event.ece = ece_of(req.ece);
  event.conn.responder_resources = req.initiator_depth;
  event.conn.initiator_depth = req.responder_resources;
  event.conn.flow_control = req.flow_control;
  event.conn.retry_count = req.retry_count;
  event.conn.rnr_retry_count = req.rnr_retry_count;
  event.conn.srq = req.srq;
  event.conn.qp_num = wire::value(req.qpn);
  return event;
}

EndpointEvent response_event(const ibcm::Upcall& upcall) {
  const ibcm::RepParameters& rep = upcall.rep;
  EndpointEvent event{.type = RDMA_CM_EVENT_CONNECT_RESPONSE, .private_data = upcall.private_data};
  event.ece = ece_of(rep.ece);
  event.conn.responder_resources = rep.initiator_depth;
  event.conn.initiator_depth = rep.responder_resources;
  event.conn.flow_control = rep.flow_control;
  event.conn.rnr_retry_count = rep.rnr_retry_count;
  event.conn.srq = rep.srq;
  event.conn.qp_num = wire::value(rep.qpn);
  return event;
}

/// A refusal is written for REJ, which has more room.
std::span<const std::uint8_t> fitting(std::span<const std::uint8_t> data) {
  constexpr std::size_t kSidrRepDataMax = 136;
  return data.first(std::min(data.size(), kSidrRepDataMax));
}

EndpointEvent plain(rdma_cm_event_type type, int status = 0) {
  return {.type = type, .status = status, .private_data = {}};
}

/// Kernel: cma_ib_handler.
EndpointEvent event_of(const ibcm::Upcall& upcall) {
  switch (upcall.kind) {
    case ibcm::UpcallKind::kRepReceived:
      return response_event(upcall);
    case ibcm::UpcallKind::kReqError:
    case ibcm::UpcallKind::kRepError:
    case ibcm::UpcallKind::kSidrReqError:
      return plain(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    case ibcm::UpcallKind::kRtuReceived:
    case ibcm::UpcallKind::kUserEstablished:
      return plain(RDMA_CM_EVENT_ESTABLISHED);
    case ibcm::UpcallKind::kRejReceived:
      return {.type = RDMA_CM_EVENT_REJECTED,
              .status = upcall.reject_reason,
              .private_data = upcall.private_data};
    case ibcm::UpcallKind::kDreqError:
      return plain(RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
    case ibcm::UpcallKind::kDreqReceived:
    case ibcm::UpcallKind::kDrepReceived:
      return plain(RDMA_CM_EVENT_DISCONNECTED);
    case ibcm::UpcallKind::kTimewaitExit:
      return plain(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    case ibcm::UpcallKind::kReqReceived:
    case ibcm::UpcallKind::kSidrReqReceived:
    case ibcm::UpcallKind::kSidrRepReceived:
      break;  // each has a way of its own
  }
  CM_ASSERT(!"every kind of upcall is an event");
  return plain(RDMA_CM_EVENT_CONNECT_ERROR);
}

}  // namespace

bool SoftTransportImpl::drain(Instant now) {
  bool any = admit_waiting(now);
  do {
    any |= deliver_pending();
    for (const auto& device : core_.devices) {
      any |= take_actions(*device, now);
      any |= take_mads(*device, now);
    }
  } while (left_behind());
  return any;
}

// A handler that got an event may have made calls. MADs come from outside only.
bool SoftTransportImpl::left_behind() const {
  return !core_.pending.empty() || std::ranges::any_of(core_.devices, [](const auto& device) {
    return device->agent->next_action() != nullptr;
  });
}

bool SoftTransportImpl::take_mads(Device& device, Instant now) {
  if (device.first_port != nullptr) return false;  // those of all ports are taken with port 1
  bool any = false;
  while (const auto mad = device.hca.next_mad()) {
    any = true;
    const ibcm::Path path = path_of(mad->from);
    Device& port = port_with(device, path.source);
    if (receive(port, now, path, mad->mad)) continue;
    waiting_.add({.device = &port, .path = path, .until = now + WaitingRoom::kPatience}, mad->mad);
  }
  return any;
}

/// One by one, until there is no room again. False: there was none.
bool SoftTransportImpl::admit_waiting(Instant now) {
  bool any = false;
  while (const auto request = waiting_.take(now)) {
    if (!receive(*request->device, now, request->path, request->mad)) {
      waiting_.put_back(*request);
      break;
    }
    any = true;
  }
  return any;
}

bool SoftTransportImpl::take_actions(Device& device, Instant now) {
  bool any = false;
  while (const ibcm::Action* action = device.agent->next_action()) {
    perform(device, now, *action);
    device.agent->pop_action();
    any = true;
  }
  return any;
}

bool SoftTransportImpl::deliver_pending() {
  bool any = false;
  while (!core_.pending.empty()) {
    const Pending event = core_.pending.pop();
    any = true;
    SoftEndpoint* endpoint = core_.endpoints.find(event.endpoint);
    if (endpoint == nullptr) continue;
    if (event.type == RDMA_CM_EVENT_MULTICAST_JOIN || event.type == RDMA_CM_EVENT_MULTICAST_ERROR) {
      endpoint->on_membership(event.type, event.status, event.membership);
    } else {
      endpoint->raise(plain(event.type, event.status));
    }
  }
  return any;
}

bool SoftTransportImpl::receive(Device& device, Instant now, const ibcm::Path& path,
                                Observer::Mad mad) {
  no_room_ = false;
  if (observer_ != nullptr) observer_->on_mad_received(device.hca.config().name, path, mad);
  device.agent->on_mad(now, path, mad);
  take_actions(device, now);  // before the next: upcalls hold views of this one
  return !no_room_;
}

void SoftTransportImpl::send(Device& device, const ibcm::SendMad& message) {
  if (observer_ != nullptr) {
    observer_->on_mad_sent(device.hca.config().name, message.path, message.mad);
  }
  device.hca.send_mad(address_of(message.path), message.mad);
}

void SoftTransportImpl::perform(Device& device, Instant now, const ibcm::Action& action) {
  std::visit(verbs::Overloaded{[&](const ibcm::SendMad& message) { send(device, message); },
                               [&](const ibcm::Upcall& upcall) { on_upcall(device, now, upcall); },
                               [&](const ibcm::Dropped& dropped) {
                                 if (observer_ == nullptr) return;
                                 observer_->on_mad_dropped(device.hca.config().name, dropped.reason,
                                                           dropped.attribute);
                               }},
             action);
}

void SoftTransportImpl::on_upcall(Device& device, Instant now, const ibcm::Upcall& upcall) {
  if (upcall.kind == ibcm::UpcallKind::kReqReceived ||
      upcall.kind == ibcm::UpcallKind::kSidrReqReceived) {
    return on_request(device, now, upcall);
  }
  const auto found = device.connections.find(wire::value(upcall.id));
  if (found == device.connections.end()) return;  // destroyed meanwhile
  SoftEndpoint& endpoint = *found->second;
  if (upcall.kind == ibcm::UpcallKind::kSidrRepReceived) return endpoint.on_resolved(upcall.sidr);
  endpoint.raise(event_of(upcall));
}

void SoftTransportImpl::on_request(Device& device, Instant now, const ibcm::Upcall& upcall) {
  const Result<Match> match = match_request(core_, device, upcall);
  if (!match) return device.agent->destroy(now, upcall.id);  // sends REJ 28, or SIDR_REP 2
  const Entry entry = ask_admission(device, now, upcall);
  if (entry == Entry::kRefused) return;
  auto request =
      std::make_unique<SoftEndpoint>(core_, *match->listener, device, match->header, upcall.id);
  SoftEndpoint& endpoint = *request;
  const auto data = upcall.private_data.subspan(match->listener->header_size());
  std::unique_ptr<Endpoint> child = std::move(request);
  EndpointHandler* owner =
      entry == Entry::kFull ? nullptr : match->listener->offer(child, request_event(upcall, data));
  device.agent->request_handled(upcall.id, owner != nullptr);
  // A question for a datagram service has its answer already: it is refused.
  no_room_ =
      owner == nullptr && entry == Entry::kOpen && upcall.kind == ibcm::UpcallKind::kReqReceived;
  if (owner == nullptr) return endpoint.abandon_request();
  endpoint.set_handler(*owner);
}

SoftTransportImpl::Entry SoftTransportImpl::ask_admission(Device& device, Instant now,
                                                          const ibcm::Upcall& upcall) {
  if (core_.admission == nullptr) return Entry::kOpen;
  const auto refusal = core_.admission->on_request(device.hca.config().name, upcall.req);
  if (!refusal) return Entry::kOpen;
  if (refusal->postponed) {
    device.agent->postpone(upcall.id, *refusal->postponed);
    return Entry::kOpen;
  }
  if (refusal->no_room) return Entry::kFull;
  if (refusal->unanswered) return Entry::kRefused;  // as if its handler never came back
  const Result<void> sent =
      upcall.kind == ibcm::UpcallKind::kReqReceived
          ? device.agent->send_rej(now, upcall.id, refusal->reason, refusal->private_data)
          : device.agent->send_sidr_rep(
                now, upcall.id,
                {.status = ibcm::kSidrReject, .private_data = fitting(refusal->private_data)});
  CM_ASSERT(sent.has_value());
  device.agent->destroy(now, upcall.id);
  return Entry::kRefused;
}

}  // namespace anyrdma::transport::soft
