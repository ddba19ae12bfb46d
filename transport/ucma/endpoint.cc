#include "transport/ucma/endpoint.h"

#include <infiniband/ib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "transport/ucma/path_record.h"

namespace anyrdma::transport::ucma {
namespace {

/// As many as Linux lets wait at most (net.rdma_ucm.max_backlog).
constexpr int kBacklogMax = 1024;
constexpr std::size_t kWaitingMax = kBacklogMax;
constexpr std::uint8_t kVendorOption = 35;
constexpr std::size_t kPrivateDataMax = std::numeric_limits<std::uint8_t>::max();

/// librdmacm promises to leave it alone, if not in its prototypes.
sockaddr* writable(const sockaddr& address) {
  return const_cast<sockaddr*>(&address);
}

int milliseconds(std::chrono::milliseconds timeout) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  return static_cast<int>(std::min<std::int64_t>(timeout.count(), kMax));
}

sockaddr_storage stored(const sockaddr& address) {
  sockaddr_storage storage{};
  const std::size_t size = address.sa_family == AF_INET    ? sizeof(sockaddr_in)
                           : address.sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                           : sizeof(sockaddr_ib);
  std::memcpy(&storage, &address, size);
  return storage;
}

}  // namespace

UcmaEndpoint::UcmaEndpoint(const CmFunctions& system, Host& host, rdma_cm_id& id,
                           EndpointHandler* handler)
    : system_(system), host_(host), id_(id), handler_(handler) {
  id_.context = this;
}

// The kernel forgets the id's events, and those that we have fetched are acknowledged: it does not
// wait for anyone.
UcmaEndpoint::~UcmaEndpoint() {
  if (!waiting_.empty()) host_.stop_offering(*this);
  waiting_.clear();
  (void)system_.destroy_id(&id_);
}

// --- addresses ----------------------------------------------------------------------------------

Result<void> UcmaEndpoint::bind(const sockaddr& local) {
  return system_.done(system_.bind_addr(&id_, writable(local)));
}

Result<void> UcmaEndpoint::listen(int backlog) {
  room_ = backlog <= 0 || backlog > kBacklogMax ? kBacklogMax : backlog;
  return system_.done(system_.listen(&id_, backlog));
}

Result<void> UcmaEndpoint::resolve_address(const sockaddr* source, const sockaddr& destination,
                                           std::chrono::milliseconds timeout) {
  sockaddr* const from = source == nullptr ? nullptr : writable(*source);
  return system_.done(
      system_.resolve_addr(&id_, from, writable(destination), milliseconds(timeout)));
}

Result<void> UcmaEndpoint::resolve_route(std::chrono::milliseconds timeout) {
  if (id_.verbs == nullptr) return verbs::errno_code(EINVAL);  // librdmacm would crash
  return system_.done(system_.resolve_route(&id_, milliseconds(timeout)));
}

Binding UcmaEndpoint::binding() const {
  return {.verbs = id_.verbs, .port_num = id_.port_num, .addr = id_.route.addr};
}

const ibv_sa_path_rec* UcmaEndpoint::path() const {
  return path_ ? &*path_ : id_.route.path_rec;
}

// --- connections --------------------------------------------------------------------------------

Result<rdma_conn_param> UcmaEndpoint::announce(const ConnectionParameters& parameters) {
  if (id_.verbs == nullptr || parameters.private_data.size() > kPrivateDataMax) {
    return verbs::errno_code(EINVAL);
  }
  if (parameters.ece.vendor_id != 0) {
    ibv_ece ece = parameters.ece;
    if (auto set = system_.done(system_.set_local_ece(&id_, &ece)); !set) return set.error();
  }
  rdma_conn_param param{};
  param.private_data = parameters.private_data.data();
  param.private_data_len = static_cast<std::uint8_t>(parameters.private_data.size());
  param.responder_resources = parameters.responder_resources;
  param.initiator_depth = parameters.initiator_depth;
  param.flow_control = parameters.flow_control;
  param.retry_count = parameters.retry_count;
  param.rnr_retry_count = parameters.rnr_retry_count;
  param.srq = parameters.srq;
  param.qp_num = parameters.qp_num;
  return param;
}

Result<void> UcmaEndpoint::connect(const ConnectionParameters& parameters) {
  Result<rdma_conn_param> param = announce(parameters);
  if (!param) return param.error();
  return system_.done(system_.connect(&id_, &*param));
}

Result<void> UcmaEndpoint::accept(const ConnectionParameters& parameters) {
  Result<rdma_conn_param> param = announce(parameters);
  if (!param) {
    (void)system_.reject(&id_, nullptr, 0);  // as the kernel does when it refuses
    return param.error();
  }
  return system_.done(system_.accept(&id_, &*param));
}

Result<void> UcmaEndpoint::establish() {
  return system_.done(system_.establish(&id_));
}

Result<void> UcmaEndpoint::reject(std::uint8_t reason, std::span<const std::uint8_t> private_data) {
  if (private_data.size() > kPrivateDataMax) return verbs::errno_code(EINVAL);
  const auto call = reason == kVendorOption ? system_.reject_ece : system_.reject;
  return system_.done(
      call(&id_, private_data.data(), static_cast<std::uint8_t>(private_data.size())));
}

Result<void> UcmaEndpoint::disconnect() {
  return system_.done(system_.disconnect(&id_));
}

Result<void> UcmaEndpoint::notify(ibv_event_type event) {
  return system_.done(system_.notify(&id_, event));
}

Result<QpTransition> UcmaEndpoint::qp_transition(ibv_qp_state state) {
  QpTransition step;
  step.attr.qp_state = state;
  if (auto done = system_.done(system_.init_qp_attr(&id_, &step.attr, &step.mask)); !done) {
    return done.error();
  }
  return step;
}

Result<void> UcmaEndpoint::set_option(int level, int option, std::span<const std::uint8_t> value) {
  std::vector<std::uint8_t> copy(value.begin(), value.end());  // a pointer to const will not do
  auto set = system_.done(system_.set_option(&id_, level, option, copy.data(), copy.size()));
  if (set && level == RDMA_OPTION_IB && option == RDMA_OPTION_IB_PATH) {
    path_ = path_record(value);
  }
  return set;
}

// --- multicast ----------------------------------------------------------------------------------

Result<void> UcmaEndpoint::join_multicast(const sockaddr& group, MembershipId membership,
                                          JoinState state) {
  rdma_cm_join_mc_attr_ex attributes{};
  attributes.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  attributes.join_flags = static_cast<std::uint32_t>(state);
  attributes.addr = writable(group);
  void* const context = reinterpret_cast<void*>(static_cast<std::uintptr_t>(membership));
  auto joining = system_.done(system_.join_multicast_ex(&id_, &attributes, context));
  if (joining) groups_.push_back({membership, stored(group)});
  return joining;
}

// librdmacm finds memberships by address, the newest first; so does cm, who chose this one.
Result<void> UcmaEndpoint::leave_multicast(MembershipId membership) {
  const auto found = std::ranges::find(groups_, membership, &Joined::membership);
  if (found == groups_.end()) return verbs::errno_code(EADDRNOTAVAIL);
  sockaddr_storage group = found->group;
  groups_.erase(found);
  return system_.done(system_.leave_multicast(&id_, reinterpret_cast<sockaddr*>(&group)));
}

// --- events -------------------------------------------------------------------------------------

void UcmaEndpoint::on_event(const Event& event) {
  if (handler_ != nullptr) handler_->on_event(event.view());
}

void UcmaEndpoint::on_request(const Event& event, rdma_cm_id& id) {
  Request request{event, std::make_unique<UcmaEndpoint>(system_, host_, id, nullptr)};
  if (waiting_.empty() && offer(request)) return;
  if (waiting_.size() == kWaitingMax) return;  // rejected
  if (waiting_.empty()) host_.keep_offering(*this);
  waiting_.push_back(std::move(request));
}

bool UcmaEndpoint::offer_again() {
  while (!waiting_.empty() && offer(waiting_.front())) waiting_.pop_front();
  return !waiting_.empty();
}

bool UcmaEndpoint::offer(Request& request) {
  if (room_ <= 0) return false;
  UcmaEndpoint& fresh = *request.child;
  std::unique_ptr<Endpoint> child = std::move(request.child);
  EndpointHandler* const handler = handler_->on_connect_request(child, request.event.view());
  if (handler == nullptr) {
    (void)child.release();  // still the same, and still ours
    request.child.reset(&fresh);
    return false;
  }
  fresh.set_handler(*handler);
  --room_;
  return true;
}

}  // namespace anyrdma::transport::ucma
