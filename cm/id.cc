#include "cm/id.h"

#include "cm/device_use.h"
#include "cm/event_record.h"
#include "verbs/assert.h"

namespace anyrdma::cm {
namespace {

/// L/cma.c:rdma_create_id, K/ucma:ucma_get_qp_type.
ibv_qp_type qp_type_of(rdma_port_space space) {
  return space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

}  // namespace

Id::Id(transport::Transport& transport, rdma_port_space space, ibv_qp_type type, void* context)
    : transport_(transport) {
  raw_.owner = this;
  raw_.id.context = context;
  raw_.id.ps = space;
  raw_.id.qp_type = type;
}

Result<void> Id::open(EventChannel& channel) {
  verbs::CriticalSection section(runtime());
  if (verbs::CallGate* gate = transport_.call_gate(); gate != nullptr) {
    if (const int error = gate->on_call(0, "create_id"); error != 0) {
      return verbs::errno_code(error);
    }
  }
  auto endpoint = transport_.create_endpoint(raw_.id.ps, raw_.id.qp_type, *this);
  if (!endpoint) return endpoint.error();
  endpoint_ = std::move(*endpoint);
  join(channel);
  return {};
}

Result<std::unique_ptr<Id>> Id::create(EventChannel& channel, rdma_port_space space,
                                       void* context) {
  std::unique_ptr<Id> id(new Id(channel.transport(), space, qp_type_of(space), context));
  if (Result<void> opened = id->open(channel); !opened) return opened.error();
  return id;
}

Result<std::unique_ptr<Id>> Id::create_synchronous(transport::Transport& transport,
                                                   rdma_port_space space, void* context) {
  return create_synchronous(transport, space, context, qp_type_of(space));
}

Result<std::unique_ptr<Id>> Id::create_synchronous(transport::Transport& transport,
                                                   rdma_port_space space, void* context,
                                                   ibv_qp_type type) {
  std::unique_ptr<Id> id(new Id(transport, space, type, context));
  auto own = PrivateChannel::create(transport, id->raw_.id.event);
  if (!own) return own.error();
  id->private_channel_ = std::move(*own);
  if (Result<void> opened = id->open(id->private_channel_->channel()); !opened) {
    return opened.error();
  }
  return id;
}

Id::~Id() {
  (void)close().has_value();
}

Result<void> Id::destroy(std::unique_ptr<Id> id) {
  if (id == nullptr) return verbs::errno_code(EINVAL);
  return id->close();
}

Result<void> Id::close() {
  if (closed_) return {};
  closed_ = true;
  EventQueue dropped;
  bool told = true;
  {
    verbs::CriticalSection section(runtime());
    // Another thread may have taken an event and be about to report it. Its report comes first.
    told = fetched_.empty();
    end(dropped, told);
  }
  discard(runtime(), dropped);
  if (private_channel_ != nullptr) private_channel_->forget();
  Result<void> drained = drain("the acknowledgement of the events of an id that it destroys");
  if (!drained) forgive();
  if (!told && transport_.call_observer() != nullptr) [[unlikely]] {
    verbs::CriticalSection section(runtime());
    report_call("destroy", 0);
  }
  if (device_ != nullptr) DeviceUses::release(transport_, device_);
  return drained;
}

void Id::end(EventQueue& dropped, bool tells) {
  if (transport_.call_observer() != nullptr) [[unlikely]] {
    if (endpoint_ != nullptr) on_state("RDMA_CM_DESTROYING");
    if (tells) report_call("destroy", 0);
  }
  endpoint_.reset();
  if (channel_ == nullptr) return;
  channel_->extract(*this, nullptr, dropped);
  leave_channel();
}

void Id::orphan(EventQueue& dropped) {
  end(dropped, true);
}

void Id::discard(verbs::Runtime& runtime, EventQueue& events) {
  for (EventRecord& record : events) record.request.reset();  // enters the critical section
  verbs::CriticalSection section(runtime);
  events.clear_and_dispose([](EventRecord* record) { EventPool::give_back(*record); });
}

void Id::join(EventChannel& channel) {
  CM_ASSERT(channel_ == nullptr);
  channel_ = &channel;
  if (number_ == 0) number_ = transport_.number_id();
  raw_.id.channel = channel.raw();
  previous_ = channel.last_id_;
  next_ = nullptr;
  (previous_ == nullptr ? channel.first_id_ : previous_->next_) = this;
  channel.last_id_ = this;
}

void Id::leave_channel() {
  CM_ASSERT(channel_ != nullptr);
  (previous_ == nullptr ? channel_->first_id_ : previous_->next_) = next_;
  (next_ == nullptr ? channel_->last_id_ : next_->previous_) = previous_;
  channel_ = nullptr;
  raw_.id.channel = nullptr;
}

}  // namespace anyrdma::cm
