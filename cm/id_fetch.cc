// What librdmacm does when the application fetches an event (L/cma.c:rdma_get_cm_event).
#include "cm/event_record.h"
#include "cm/id.h"

namespace anyrdma::cm {
namespace {

void turn_into(rdma_cm_event& event, rdma_cm_event_type type, int status) {
  event.event = type;
  event.status = status;
}

/// TCP finds the way of iWARP: there are no records of it (K/cma.c:cma_resolve_iw_route).
bool has_no_paths(const ibv_context* verbs) {
  return verbs != nullptr && verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

}  // namespace

bool Id::on_fetch(EventRecord& record) {
  if (record.own) return true;
  rdma_cm_event& event = record.raw.event;
  switch (static_cast<int>(event.event)) {  // foreign enum: newer headers have more
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (!fetch_address()) turn_into(event, RDMA_CM_EVENT_ADDR_ERROR, -1);
      return true;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      if (!fetch_route()) turn_into(event, RDMA_CM_EVENT_ROUTE_ERROR, -1);
      return true;
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      remote_ece_ = record.ece;
      return fetch_request(Id::from(event.listen_id));
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      if (!fetch_join(record)) turn_into(event, RDMA_CM_EVENT_MULTICAST_ERROR, -1);
      return true;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      if (hold_qp()) {
        fetch_response(event, record.ece);
        release_qp();
      } else {
        remote_ece_ = record.ece;
      }
      return true;
    case RDMA_CM_EVENT_REJECTED:
      if (connect_error_) return false;
      if (hold_qp()) {
        (void)flush_qp().has_value();  // its failure is not reported (L/cma.c)
        release_qp();
      }
      return true;
    case RDMA_CM_EVENT_DISCONNECTED:
      return !connect_error_;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_ESTABLISHED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
    case RDMA_CM_EVENT_MULTICAST_ERROR:
    case RDMA_CM_EVENT_ADDR_CHANGE:
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      return true;
  }
  return true;
}

bool Id::fetch_address() {
  transport::Binding binding;
  {
    verbs::CriticalSection section(runtime());
    if (!is_alive()) return false;
    binding = endpoint_->binding();
  }
  return adopt(binding).has_value();
}

bool Id::fetch_route() {
  verbs::CriticalSection section(runtime());
  if (!is_alive()) return false;
  const ibv_sa_path_rec* path = endpoint_->path();
  if (path == nullptr) return has_no_paths(raw_.id.verbs);
  path_ = *path;
  raw_.id.route.path_rec = &path_;
  raw_.id.route.num_paths = 1;
  return true;
}

bool Id::fetch_request(const Id& listener) {
  raw_.id.context = listener.raw_.id.context;
  if (listener.is_synchronous() && !make_synchronous()) return false;
  if (!fetch_address()) return false;
  (void)fetch_route();  // a datagram service's request has no path
  return true;
}

void Id::fetch_response(rdma_cm_event& event, const ibv_ece& ece) {
  if (const int status = answer_response(ece); status != 0) {
    turn_into(event, RDMA_CM_EVENT_CONNECT_ERROR, status);
    connect_error_ = true;
    return;
  }
  turn_into(event, RDMA_CM_EVENT_ESTABLISHED, event.status);
}

int Id::answer_response(const ibv_ece& ece) {
  // The provider's own errors show as they are, all others as -1; the first leaves the QP alone.
  if (!is_acceptable(ece)) {
    (void)flush_qp().has_value();
    return -1;
  }
  if (Result<void> agreed = agree_on_ece(ece); !agreed) return agreed.error().value();
  Result<void> up = bring_qp_up(nullptr);
  if (up) {
    verbs::CriticalSection section(runtime());
    up = perform(Call::kEstablish, [&] { return endpoint_->establish(); });
  }
  if (!up) {
    (void)flush_qp().has_value();
    return -1;
  }
  if (Result<void> taken = take_ece(*raw_.id.qp); !taken) {
    (void)flush_qp().has_value();
    return taken.error().value();
  }
  return 0;
}

}  // namespace anyrdma::cm
