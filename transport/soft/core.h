// The state that all endpoints of one transport share: devices, listeners, and the events that
// SoftTransport::drain() will deliver. Use it inside the critical section (verbs::Runtime::enter).
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/ibcm/agent.h"
#include "transport/soft/handle.h"
#include "transport/soft/network.h"
#include "transport/soft/port_table.h"
#include "transport/soft/transport.h"

namespace anyrdma::transport::soft {

class SoftEndpoint;

namespace intrusive = boost::intrusive;
struct AttachedTag;
/// Links an endpoint into the list of its device. The destructor of the endpoint removes it.
using AttachedHook = intrusive::list_base_hook<intrusive::tag<AttachedTag>,
                                               intrusive::link_mode<intrusive::auto_unlink>>;

/// The list of endpoints attached to a device, in the order in which they were attached.
using AttachedHooks = intrusive::list<AttachedHook, intrusive::base_hook<AttachedHook>,
                                      intrusive::constant_time_size<false>>;

/// One port of a software HCA with its CM agent.
struct Device {
  verbs::soft::Hca& hca;
  ibv_context* context;  ///< open as long as the transport exists, because applications use it
  int interface;
  std::uint8_t port;
  const Device* first_port;  ///< port 1 of the HCA, which has the contexts; null: this is port 1
  std::unique_ptr<ibcm::Agent> agent;
  boost::unordered_flat_map<std::uint32_t, SoftEndpoint*> connections;  ///< by local comm id
  AttachedHooks attached;
  /// The contexts that single processes have of this device, if the runtime has several processes.
  /// There are seldom more than a few.
  std::vector<std::pair<const void*, ibv_context*>> own_contexts{};

  /// Returns the context of the device for a process. Null `process`: the device's own context.
  [[nodiscard]] ibv_context* context_of(const void* process) const;
  /// Returns the index of a GID in the device's table; -1: it is not in the table.
  [[nodiscard]] int index_of(std::span<const std::uint8_t, 16> gid) const;
  /// Returns the first GID of an address family, else the first GID of all. Null: the table is
  /// empty.
  [[nodiscard]] const ibv_gid* first_gid(sa_family_t family) const;
};

/// An event of an endpoint that SoftTransport::drain() will deliver.
struct Pending {
  Handle endpoint;
  rdma_cm_event_type type;
  int status = 0;
  MembershipId membership{};  ///< of multicast events
};

/// A queue of events, first in, first out, which reuses its memory. push() tells the driver, which
/// then calls SoftTransport::drain().
class PendingQueue {
 public:
  explicit PendingQueue(verbs::Runtime& runtime) : runtime_(runtime) {}

  void push(const Pending& event) {
    events_.push_back(event);
    runtime_.call_driver();
  }
  [[nodiscard]] bool empty() const { return head_ == events_.size(); }
  [[nodiscard]] Pending pop();

 private:
  verbs::Runtime& runtime_;
  std::vector<Pending> events_;
  std::size_t head_ = 0;
};

/// The listeners of each service id, in the order in which they began to listen.
class ListenerTable {
 public:
  void add(ibcm::ServiceId service, SoftEndpoint& listener);
  void remove(ibcm::ServiceId service, SoftEndpoint& listener);
  [[nodiscard]] std::span<SoftEndpoint* const> of(ibcm::ServiceId service) const;
  /// Returns the endpoints that listen on every device.
  [[nodiscard]] std::span<SoftEndpoint* const> wildcards() const { return wildcards_; }

 private:
  boost::unordered_flat_map<std::uint64_t, std::vector<SoftEndpoint*>> by_service_;
  std::vector<SoftEndpoint*> wildcards_;
};

struct Core {
  verbs::Runtime& runtime;
  verbs::Random& random;
  Network& network;
  PortTable& ports;
  SoftTransportConfig config;
  std::vector<std::unique_ptr<Device>> devices{};  ///< in the order of addition

  /// Devices that were removed; their contexts are closed with the transport.
  std::vector<std::unique_ptr<Device>> removed{};
  EndpointRegistry endpoints{};
  ListenerTable listeners{};
  PendingQueue pending{runtime};
  Admission* admission = nullptr;  ///< null: none

  /// A route lookup that a fault lets fail when its time has come.
  struct Unrouted {
    NeighbourToken token{};
    int error = 0;
    Instant due{};
  };
  std::vector<Unrouted> unrouted{};

  /// Returns the device on an interface; null: the interface has none.
  [[nodiscard]] Device* device_on(int interface) const;
  /// Returns the first device with an active port, else the first device. Null: there is no device
  /// (cma_bind_loopback).
  [[nodiscard]] Device* loopback_device() const;
  /// Whether an address means this host itself: the wildcard address, or a loopback address if
  /// loopback_is_routed is false (kernel: cma_any_addr).
  [[nodiscard]] bool means_self(const Address& address) const {
    return address.is_zero() || (address.is_loopback() && !config.loopback_is_routed);
  }
  /// Whether the GID belongs to a device of this host.
  [[nodiscard]] bool owns(std::span<const std::uint8_t, 16> gid) const;
};

}  // namespace anyrdma::transport::soft
