// Events from the endpoint: in what shape they reach the channel.
#include "cm/event_record.h"
#include "cm/id.h"
#include "verbs/assert.h"

namespace anyrdma::cm {
namespace {

EventRecord& make_record(EventPool& pool, Id& charged, const transport::EndpointEvent& from) {
  EventRecord& record = pool.take();
  record.charged = &charged;
  rdma_cm_event& event = record.raw.event;
  event.id = charged.raw();
  event.event = from.type;
  event.status = from.status;
  if (from.ud != nullptr) {
    event.param.ud = *from.ud;
  } else {
    event.param.conn = from.conn;
  }
  record.set_private_data(from.private_data);
  record.ece = from.ece;
  return record;
}

bool speaks_of_a_group(rdma_cm_event_type type) {
  return type == RDMA_CM_EVENT_MULTICAST_JOIN || type == RDMA_CM_EVENT_MULTICAST_ERROR;
}

}  // namespace

void Id::on_event(const transport::EndpointEvent& event) {
  CM_ASSERT(event.type != RDMA_CM_EVENT_CONNECT_REQUEST);  // comes with an endpoint
  Membership* group = nullptr;
  if (speaks_of_a_group(event.type)) {
    group = memberships_ == nullptr ? nullptr : memberships_->find(event.membership);
    if (group == nullptr) return;  // left meanwhile
  }
  EventRecord& record = make_record(*channel_->pool_, *this, event);
  if (group != nullptr) {
    record.membership = group;
    record.raw.event.param.ud.private_data = group->context;  // and no length
  }
  channel_->observe(transport::EventObserver::Step::kQueued, record);
  channel_->push(record);
}

transport::EndpointHandler* Id::on_connect_request(std::unique_ptr<transport::Endpoint>& child,
                                                   const transport::EndpointEvent& event) {
  CM_ASSERT(event.type == RDMA_CM_EVENT_CONNECT_REQUEST);
  std::unique_ptr<Id> id(new Id(transport_, raw_.id.ps, raw_.id.qp_type, raw_.id.context));
  id->endpoint_ = std::move(child);
  id->requested_ = {event.conn.responder_resources, event.conn.initiator_depth};
  id->join(*channel_);
  id->on_state(id->state());

  EventRecord& record = make_record(*channel_->pool_, *this, event);
  record.raw.event.listen_id = raw();
  record.raw.event.id = id->raw();
  Id* handler = id.get();
  record.request = std::move(id);
  channel_->observe(transport::EventObserver::Step::kQueued, record);
  channel_->push(record);
  return handler;
}

void Id::on_state(std::string_view state) {
  transport::CallObserver* const observer = transport_.call_observer();
  if (observer != nullptr && !state.empty()) observer->on_state(number_, state);
}

}  // namespace anyrdma::cm
