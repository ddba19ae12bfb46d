#include "transport/fault/fault_endpoint.h"

#include <cerrno>
#include <chrono>
#include <utility>

namespace anyrdma::fault {
namespace {

using transport::ConnectionParameters;
using transport::Endpoint;
using transport::EndpointEvent;
using transport::EndpointHandler;
using verbs::Instant;

/// How often a request is offered again that was held, and found no room.
constexpr auto kNextOffer = std::chrono::milliseconds(50);

/// Handles the events of a request that the program never sees.
class Nobody final : public EndpointHandler {
 public:
  void on_event(const EndpointEvent&) override {}
  EndpointHandler* on_connect_request(std::unique_ptr<Endpoint>&, const EndpointEvent&) override {
    return nullptr;
  }
};
Nobody nobody;

std::vector<std::uint8_t> copied(const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::uint8_t*>(data);
  return bytes == nullptr ? std::vector<std::uint8_t>{}
                          : std::vector<std::uint8_t>(bytes, bytes + size);
}

}  // namespace

// --- StoredEvent --------------------------------------------------------------------------------

StoredEvent::StoredEvent(const EndpointEvent& event)
    : event_(event), private_data_(event.private_data.begin(), event.private_data.end()) {
  if (event.ud == nullptr) return;
  ud_ = *event.ud;
  ud_data_ = copied(event.ud->private_data, event.ud->private_data_len);
}

EndpointEvent StoredEvent::view() const {
  EndpointEvent event = event_;
  event.private_data = private_data_;
  event.ud = ud_ ? &*ud_ : nullptr;
  return event;
}

// --- life ---------------------------------------------------------------------------------------

FaultEndpoint::FaultEndpoint(FaultTransport& owner, EndpointHandler* handler)
    : owner_(owner), handler_(handler), serial_(owner.enter(*this)) {}

FaultEndpoint::~FaultEndpoint() {
  owner_.leave(serial_);
}

bool FaultEndpoint::is_on(const ibv_device* device) const {
  const ibv_context* const context = below_->binding().verbs;
  return !removed_ && context != nullptr && context->device == device;
}

void FaultEndpoint::remove() {
  raise(RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
  removed_ = true;
  (void)below_->disconnect().has_value();  // refused where there is no connection
}

// --- what comes up ------------------------------------------------------------------------------

/// True also for what comes behind something that waits.
bool FaultEndpoint::must_wait(std::uint64_t id, rdma_cm_event_type type, Instant& due) {
  const auto held = owner_.hold(id, type);
  if (held) due = owner_.runtime().now() + *held;
  return held || !held_.empty() || handler_ == nullptr;
}

void FaultEndpoint::keep(Held held) {
  held_.push_back(std::move(held));
  owner_.wake();
}

void FaultEndpoint::on_event(const EndpointEvent& event) {
  if (removed_) return;
  if (event.type == RDMA_CM_EVENT_ADDR_RESOLVED && owner_.is_gone(below_->binding().verbs)) {
    return raise(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
  }
  Instant due{};
  if (must_wait(number_, event.type, due)) return keep({StoredEvent(event), due});
  handler_->on_event(event);
}

void FaultEndpoint::on_state(std::string_view state) {
  if (handler_ != nullptr) handler_->on_state(state);
}

void FaultEndpoint::raise(rdma_cm_event_type type, int status) {
  const EndpointEvent event{.type = type, .status = status};
  Instant due{};
  if (must_wait(number_, type, due)) return keep({StoredEvent(event), due});
  handler_->on_event(event);
}

// Messages that arrive by a removed device are dropped, as on Linux; their sender repeats them
// without an answer.
EndpointHandler* FaultEndpoint::on_connect_request(std::unique_ptr<Endpoint>& child,
                                                   const EndpointEvent& event) {
  if (owner_.is_gone(child->binding().verbs)) return nullptr;
  if (const auto refusal = owner_.refusal_of_request()) {
    if (refusal->forgotten) return nullptr;
    (void)child->reject(refusal->reason, refusal->private_data).has_value();
    owner_.bury(std::move(child));
    below_->on_request_fetched();  // the program never fetches it, so it takes no place in the
                                   // backlog
    return &nobody;
  }
  auto made = std::make_unique<FaultEndpoint>(owner_, nullptr);
  FaultEndpoint& fresh = *made;
  made->stand_on(std::move(child));
  Instant due{};
  if (must_wait(owner_.upcoming_number(), event.type, due)) {
    keep({StoredEvent(event), due, std::move(made)});
    return &fresh;
  }
  if (offer(made, event)) return &fresh;
  child = std::move(made->below_);
  return nullptr;
}

bool FaultEndpoint::offer(std::unique_ptr<FaultEndpoint>& child, const EndpointEvent& event) {
  FaultEndpoint& fresh = *child;
  std::unique_ptr<Endpoint> offered = std::move(child);
  EndpointHandler* const handler = handler_->on_connect_request(offered, event);
  if (handler == nullptr) {
    (void)offered.release();  // the same as before, and still ours
    child.reset(&fresh);
    return false;
  }
  fresh.number(owner_.next_number());
  fresh.set_handler(*handler);
  return true;
}

// --- what is held -------------------------------------------------------------------------------

std::optional<Instant> FaultEndpoint::next_deadline() const {
  if (held_.empty() || handler_ == nullptr) return std::nullopt;
  return held_.front().due;
}

bool FaultEndpoint::deliver(Held& held) {
  if (held.child != nullptr) return offer(held.child, held.event.view());
  handler_->on_event(held.event.view());
  return true;
}

void FaultEndpoint::deliver_held(Instant now) {
  while (handler_ != nullptr && !held_.empty() && held_.front().due <= now) {
    Held held = std::move(held_.front());
    held_.pop_front();
    if (deliver(held)) continue;
    held.due = now + kNextOffer;
    held_.push_front(std::move(held));
  }
}

// --- what goes down -----------------------------------------------------------------------------

Result<void> FaultEndpoint::admits(transport::Call call) const {
  return removed_ ? verbs::errno_code(ENXIO) : below_->admits(call);
}

Result<void> FaultEndpoint::bind(const sockaddr& local) {
  Result<void> bound = below_->bind(local);
  if (bound && owner_.is_gone(below_->binding().verbs)) return verbs::errno_code(ENODEV);
  return bound;
}

transport::Binding FaultEndpoint::binding() const {
  transport::Binding binding = below_->binding();
  if (!removed_ && owner_.is_gone(binding.verbs)) binding.verbs = nullptr;
  return binding;
}

Result<void> FaultEndpoint::listen(int backlog) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->listen(backlog);
}

Result<void> FaultEndpoint::resolve_address(const sockaddr* source, const sockaddr& destination,
                                            std::chrono::milliseconds timeout) {
  if (removed_) return verbs::errno_code(ENXIO);
  return below_->resolve_address(source, destination, timeout);
}

Result<void> FaultEndpoint::resolve_route(std::chrono::milliseconds timeout) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->resolve_route(timeout);
}

Result<void> FaultEndpoint::connect(const ConnectionParameters& parameters) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->connect(parameters);
}

Result<void> FaultEndpoint::accept(const ConnectionParameters& parameters) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->accept(parameters);
}

Result<void> FaultEndpoint::establish() {
  return removed_ ? verbs::errno_code(ENXIO) : below_->establish();
}

Result<void> FaultEndpoint::reject(std::uint8_t reason,
                                   std::span<const std::uint8_t> private_data) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->reject(reason, private_data);
}

Result<void> FaultEndpoint::disconnect() {
  return removed_ ? verbs::errno_code(ENXIO) : below_->disconnect();
}

Result<void> FaultEndpoint::notify(ibv_event_type event) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->notify(event);
}

Result<transport::QpTransition> FaultEndpoint::qp_transition(ibv_qp_state state) {
  if (removed_) return verbs::errno_code(ENXIO);
  return below_->qp_transition(state);
}

Result<void> FaultEndpoint::set_option(int level, int option, std::span<const std::uint8_t> value) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->set_option(level, option, value);
}

Result<void> FaultEndpoint::join_multicast(const sockaddr& group,
                                           transport::MembershipId membership,
                                           transport::JoinState state) {
  if (removed_) return verbs::errno_code(ENXIO);
  return below_->join_multicast(group, membership, state);
}

Result<void> FaultEndpoint::leave_multicast(transport::MembershipId membership) {
  return removed_ ? verbs::errno_code(ENXIO) : below_->leave_multicast(membership);
}

}  // namespace anyrdma::fault
