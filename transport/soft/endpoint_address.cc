// The addresses of an endpoint: ports, routes, neighbours and the path that follows from them.
#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/soft/endpoint.h"
#include "verbs/assert.h"

namespace anyrdma::transport::soft {
namespace {

constexpr std::uint8_t kExactly = 2;  // selector of a path record's ranges (IB_SA_EQ)
constexpr std::uint16_t kDefaultPartition = 0xffff;
constexpr std::uint32_t kFlowLabelMask = 0xfffff;
/// librdmacm shows a path's flags as its preference (L/ucma_convert_path).
constexpr std::uint8_t kPathFlags =
    IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
constexpr int kBacklogMax = 1024;  // net.rdma_ucm.max_backlog

/// Linux 6.x: cma_get_roce_udp_flow_label, seen in tests/data/captures.
std::uint32_t flow_label(std::uint16_t source_port, std::uint16_t destination_port) {
  return (source_port * 31u + destination_port) & kFlowLabelMask;
}

}  // namespace

Result<void> SoftEndpoint::bind(const sockaddr& local) {
  if (Result<void> legal = admits(Call::kBind); !legal) return legal;
  const Result<Address> address = Address::from(local);
  if (!address) return address.error();
  return bind_to(*address);
}

// An AF_IB address says its port space itself.
rdma_port_space SoftEndpoint::port_space() const {
  return source_.family == AF_IB ? static_cast<rdma_port_space>(source_.scope) : space_;
}

// An "any" address belongs to no device; a specific one decides which (kernel: rdma_bind_addr_dst).
Result<void> SoftEndpoint::bind_to(const Address& local) {
  Device* device = nullptr;
  if (!core_.means_self(local)) {
    if (local.family == AF_IB) return verbs::errno_code(ENODEV);  // InfiniBand ports only
    const Result<int> interface = core_.network.interface_of(local);
    if (!interface) return interface.error();
    device = core_.device_on(*interface);
    if (device == nullptr) return verbs::errno_code(ENODEV);
    if (space_ == RDMA_PS_IPOIB) return verbs::errno_code(EINVAL);  // RoCE has no IPoIB
  }
  source_ = local;
  if (local.family == AF_IB) {
    const Result<Address> with_space = local.for_space(space_);
    if (!with_space) {
      source_ = {};
      return with_space.error();
    }
    source_ = *with_space;
  }
  const Result<PortTable::Claimed> claimed = core_.ports.claim(claim());
  if (!claimed) {
    source_ = {};
    return claimed.error();
  }
  claim_ = claimed->id;
  source_.port = claimed->port;
  if (device != nullptr) {
    attach(*device);
    note_own_link();
    path_.source = local.ip;
  } else if (core_.config.loopback_has_device && local.is_loopback()) {
    (void)attach_loopback();
  }
  enter(State::kAddrBound);
  return {};
}

/// False: no device has an address of that family.
bool SoftEndpoint::attach_loopback() {
  Device* const device = core_.loopback_device();
  const ibv_gid* const gid = device != nullptr ? device->first_gid(source_.family) : nullptr;
  if (gid == nullptr) return false;
  std::memcpy(path_.source.data(), gid->raw, path_.source.size());
  attach(*device);
  return true;
}

Claim SoftEndpoint::claim() const {
  const bool by_default =
      source_.family == AF_INET || (source_.family == AF_INET6 && core_.config.ipv6_only);
  return {.space = port_space(),
          .local = source_,
          .destination = destination_,
          .reuse = reuse_,
          .afonly = afonly_.value_or(by_default)};
}

void SoftEndpoint::update_claim() {
  if (claim_) core_.ports.update(*claim_, claim());
}

// A refused listen sets the backlog all the same (ucma.c:ucma_listen).
Result<void> SoftEndpoint::listen(int backlog) {
  if (Result<void> alive = admits(Call::kQuery); !alive) return alive;
  room_ = backlog <= 0 || backlog > kBacklogMax ? kBacklogMax : backlog;
  if (Result<void> legal = admits(Call::kListen); !legal) return legal;
  if (state_ == State::kIdle) {
    if (Result<void> bound = bind_to(Address::wildcard(AF_INET)); !bound) return bound;
  }
  if (Result<void> unique = core_.ports.listen(*claim_); !unique) return unique;
  reuse_ = false;
  enter(State::kListen);
  const ibcm::ServiceId service = own_service();
  core_.listeners.add(service, *this);
  if (device_ != nullptr) {
    device_->agent->listen(service);
  } else {
    for (const auto& device : core_.devices) device->agent->listen(service);
  }
  return {};
}

Result<void> SoftEndpoint::resolve_address(const sockaddr* source, const sockaddr& destination,
                                           std::chrono::milliseconds timeout) {
  if (Result<void> legal = admits(Call::kResolveAddr); !legal) return legal;
  const Result<Address> wanted = Address::from(destination);
  if (!wanted) return wanted.error();
  destination_ = *wanted;
  if (state_ == State::kIdle) {
    const Result<Address> local =
        source != nullptr ? Address::from(*source) : Address::wildcard(wanted->family);
    if (!local) return local.error();
    if (Result<void> bound = bind_to(*local); !bound) return bound;
  }
  if (source_.family != destination_.family) return verbs::errno_code(EINVAL);
  if (core_.means_self(destination_)) return resolve_loopback();
  if (destination_.family == AF_IB) return verbs::errno_code(ENODEV);  // cma_resolve_ib_dev
  return start_query(timeout);
}

Result<void> SoftEndpoint::start_query(std::chrono::milliseconds timeout) {
  Result<Route> route =
      core_.network.route(core_.means_self(source_) ? nullptr : &source_, destination_);
  if (!route) return route.error();
  route_ = *route;
  enter(State::kAddrQuery);
  is_asking_ = true;
  if (route_.local) {
    on_neighbour(0);
  } else {
    core_.network.resolve_neighbour(token(), route_, timeout);
  }
  return {};
}

void SoftEndpoint::on_neighbour(int error) {
  if (!std::exchange(is_asking_, false)) return;
  if (error == 0) error = finish_query();
  if (error != 0) return queue(RDMA_CM_EVENT_ADDR_ERROR, -error);
  queue(RDMA_CM_EVENT_ADDR_RESOLVED);
}

// The route's interface decides the device, unless a specific source already has: then both must
// agree (kernel: addr_handler, cma_acquire_dev_by_src_ip).
int SoftEndpoint::finish_query() {
  if (space_ == RDMA_PS_IPOIB) return EINVAL;
  Device* device = device_ != nullptr ? device_ : core_.device_on(route_.interface);
  if (device == nullptr) return ENODEV;
  if (!route_.local && device->interface != route_.interface) return ENODEV;
  const Address& local = core_.means_self(source_) ? route_.source : source_;
  if (device->index_of(local.ip) < 0) return ENODEV;
  attach(*device);
  note_own_link();
  peer_link_ = core_.network.link_of(device->interface, destination_);
  source_ = {local.family, source_.port, local.scope, local.ip};
  path_.source = local.ip;
  path_.destination = destination_.ip;
  update_claim();
  return 0;
}

// Unlike Linux, a route to it can be resolved afterwards: programs should run on a laptop as they
// stand (docs/architecture.md, deviations).
Result<void> SoftEndpoint::resolve_loopback() {
  if (device_ == nullptr) {
    if (!attach_loopback()) return verbs::errno_code(ENODEV);
    source_.ip = Address::loopback(source_.family).ip;
  }
  path_.destination = path_.source;
  update_claim();
  enter(State::kAddrQuery);
  queue(RDMA_CM_EVENT_ADDR_RESOLVED);
  return {};
}

Result<void> SoftEndpoint::resolve_route(std::chrono::milliseconds timeout) {
  if (Result<void> legal = admits(Call::kResolveRoute); !legal) return legal;
  if (timeout.count() == 0) return verbs::errno_code(EINVAL);
  if (source_.family == AF_IB) return verbs::errno_code(ENODEV);  // bound to no interface
  path_.flow_label = flow_label(source_.port, destination_.port);
  path_.traffic_class = traffic_class_;
  path_.mtu = static_cast<std::uint8_t>(device_->hca.config().active_mtu);
  path_.packet_lifetime = core_.config.profile.packet_lifetime;
  // What a message cannot carry is cut there (kernel: cm_ack_timeout), and a path record's fields
  // have five bits (L/ucma_convert_path).
  const int wanted = ack_timeout_.value_or(0) - 1;
  if (wanted >= 0) path_.packet_lifetime = static_cast<std::uint8_t>(std::min(wanted, 30));
  fill_path_record();
  if (wanted >= 0) path_record_->packet_life_time = static_cast<std::uint8_t>(wanted & 0x1f);
  enter(State::kRouteQuery);
  if (core_.admission != nullptr) {
    if (const auto failure = core_.admission->on_routing(timeout)) return lose_route(*failure);
  }
  is_asking_ = core_.network.resolve_path(token(), timeout);
  if (!is_asking_) queue(RDMA_CM_EVENT_ROUTE_RESOLVED);
  return {};
}

Result<void> SoftEndpoint::lose_route(const Admission::NoRoute& failure) {
  is_asking_ = true;
  if (failure.after == verbs::Duration::zero()) {
    on_path(failure.error);
  } else {
    core_.unrouted.push_back({token(), failure.error, core_.runtime.now() + failure.after});
    core_.runtime.call_driver();
  }
  return {};
}

// Kernel: cma_query_handler.
void SoftEndpoint::on_path(int error) {
  if (!std::exchange(is_asking_, false)) return;
  if (error == 0) return queue(RDMA_CM_EVENT_ROUTE_RESOLVED);
  path_record_.reset();
  queue(RDMA_CM_EVENT_ROUTE_ERROR, -error);
}

void SoftEndpoint::fill_path_record() {
  ibv_sa_path_rec& record = path_record_.emplace();
  std::memcpy(record.sgid.raw, path_.source.data(), path_.source.size());
  std::memcpy(record.dgid.raw, path_.destination.data(), path_.destination.size());
  record.flow_label = htonl(path_.flow_label);
  record.hop_limit = path_.hop_limit;
  record.traffic_class = path_.traffic_class;
  record.reversible = 1;
  record.numb_path = 1;
  record.pkey = htons(kDefaultPartition);
  record.mtu_selector = kExactly;
  record.mtu = path_.mtu;
  record.rate_selector = kExactly;
  record.rate = IBV_RATE_MAX;
  record.packet_life_time_selector = kExactly;
  record.packet_life_time = path_.packet_lifetime;
  record.preference = kPathFlags;
}

}  // namespace anyrdma::transport::soft
