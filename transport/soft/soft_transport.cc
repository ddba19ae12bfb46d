#include "transport/soft/soft_transport.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <variant>

#include "verbs/assert.h"

namespace anyrdma::transport::soft {
namespace {

bool is_known(rdma_port_space space) {
  return space == RDMA_PS_TCP || space == RDMA_PS_UDP || space == RDMA_PS_IB ||
         space == RDMA_PS_IPOIB;
}

ibcm::AgentConfig agent_config(const SoftTransportConfig& config, const verbs::soft::Hca& hca) {
  return {.profile = config.profile,
          .ca_guid = hca.config().node_guid,
          .id_mask = config.comm_id_mask,
          .id_tag = config.comm_id_tag};
}

}  // namespace

std::unique_ptr<SoftTransport> SoftTransport::create(verbs::Runtime& runtime, verbs::Random& random,
                                                     Network& network, PortTable& ports,
                                                     const SoftTransportConfig& config) {
  return std::make_unique<SoftTransportImpl>(Core{runtime, random, network, ports, config});
}

SoftTransportImpl::~SoftTransportImpl() {
  // Endpoints that are left go on pointing here: see endpoints(). EBUSY: the application left
  // objects behind; they go with their HCA.
  for (const auto* devices : {&core_.devices, &core_.removed}) {
    for (const auto& device : *devices) {
      if (device->first_port != nullptr) continue;
      (void)device->hca.close_device(device->context).has_value();
    }
  }
}

Device& SoftTransportImpl::known(const ibv_device* device) {
  for (const auto* devices : {&core_.devices, &core_.removed}) {
    for (const auto& each : *devices) {
      if (each->hca.device() == device) return *each;
    }
  }
  CM_ASSERT(!"a device of another transport");
  std::abort();
}

verbs::Provider& SoftTransportImpl::provider_of(ibv_device* device) {
  return known(device).hca;
}

ibv_context* SoftTransportImpl::context_of(ibv_device* device) {
  return known(device).context_of(core_.runtime.process());
}

Result<std::unique_ptr<Endpoint>> SoftTransportImpl::create_endpoint(rdma_port_space space,
                                                                     ibv_qp_type type,
                                                                     EndpointHandler& handler) {
  if (!is_known(space)) return verbs::errno_code(EINVAL);
  return std::unique_ptr<Endpoint>(std::make_unique<SoftEndpoint>(core_, space, type, handler));
}

Device* SoftTransportImpl::find(const verbs::soft::Hca& hca, std::uint8_t port) const {
  for (const auto& device : core_.devices) {
    if (&device->hca == &hca && device->port == port) return device.get();
  }
  return nullptr;
}

Result<void> SoftTransportImpl::check_free(const verbs::soft::Hca& hca, std::uint8_t port,
                                           int interface) const {
  const bool taken = core_.device_on(interface) != nullptr || find(hca, port) != nullptr;
  if (taken) return verbs::errno_code(EEXIST);
  return {};
}

void SoftTransportImpl::start(std::unique_ptr<Device> port) {
  port->agent =
      ibcm::Agent::create(agent_config(core_.config, port->hca), core_.random, &core_.runtime);
  for (SoftEndpoint* listener : core_.listeners.wildcards())
    port->agent->listen(listener->own_service());
  core_.devices.push_back(std::move(port));
}

Result<void> SoftTransportImpl::add_device(verbs::soft::Hca& hca, int interface) {
  constexpr std::uint8_t kFirstPort = 1;
  {
    verbs::CriticalSection section(core_.runtime);
    if (Result<void> free = check_free(hca, kFirstPort, interface); !free) return free;
  }
  const Result<ibv_context*> context = hca.open_device(hca.device());
  if (!context) return context.error();
  auto added = std::make_unique<Device>(
      Device{hca, *context, interface, kFirstPort, nullptr, nullptr, {}, {}});
  for (const void* process : processes_) {
    if (Result<void> opened = open_for(*added, process); !opened) return opened.error();
  }
  verbs::CriticalSection section(core_.runtime);
  start(std::move(added));
  present_.push_back(hca.device());
  return {};
}

Result<void> SoftTransportImpl::add_port(verbs::soft::Hca& hca, std::uint8_t port, int interface) {
  verbs::CriticalSection section(core_.runtime);
  const Device* const first = find(hca, 1);
  if (first == nullptr || port < 2 || port > hca.config().ports) return verbs::errno_code(ENODEV);
  if (Result<void> free = check_free(hca, port, interface); !free) return free;
  start(std::make_unique<Device>(
      Device{hca, first->context, interface, port, first, nullptr, {}, {}}));
  return {};
}

void SoftTransportImpl::remove_device(verbs::soft::Hca& hca) {
  CM_ASSERT(find(hca, 1) != nullptr);
  for (std::uint8_t port = 1; port <= hca.config().ports; ++port) {
    if (Device* const present = find(hca, port); present != nullptr) remove_port(*present);
  }
  std::erase(present_, hca.device());
}

void SoftTransportImpl::remove_port(Device& port) {
  while (!port.attached.empty()) {
    static_cast<SoftEndpoint&>(port.attached.front()).on_device_removed();
  }
  // No endpoint is left for the agent's events; its last messages are still sent.
  for (; const ibcm::Action* action = port.agent->next_action(); port.agent->pop_action()) {
    if (const auto* message = std::get_if<ibcm::SendMad>(action)) send(port, *message);
  }
  waiting_.forget(port);
  port.agent.reset();
  const auto at =
      std::ranges::find_if(core_.devices, [&](const auto& each) { return each.get() == &port; });
  core_.removed.push_back(std::move(*at));
  core_.devices.erase(at);
}

Device& SoftTransportImpl::port_with(Device& device, std::span<const std::uint8_t, 16> gid) const {
  if (device.hca.config().ports == 1) return device;
  for (const auto& each : core_.devices) {
    if (&each->hca == &device.hca && each->index_of(gid) >= 0) return *each;
  }
  return device;
}

Result<void> SoftTransportImpl::open_for(Device& device, const void* process) {
  const Result<ibv_context*> context = device.hca.open_device(device.hca.device());
  if (!context) return context.error();
  verbs::CriticalSection section(core_.runtime);
  device.own_contexts.emplace_back(process, *context);
  return {};
}

Result<void> SoftTransportImpl::begin_process(const void* process) {
  processes_.push_back(process);
  for (const auto& device : core_.devices) {
    if (device->first_port != nullptr) continue;
    if (Result<void> opened = open_for(*device, process); !opened) return opened;
  }
  return {};
}

void SoftTransportImpl::end_process(const void* process) {
  std::erase(processes_, process);
  for (const auto* devices : {&core_.devices, &core_.removed}) {
    for (const auto& device : *devices) {
      std::erase_if(device->own_contexts, [&](const auto& own) {
        if (own.first != process) return false;
        (void)device->hca.close_device(own.second).has_value();
        return true;
      });
    }
  }
}

void SoftTransportImpl::on_neighbour(NeighbourToken token, int error) {
  SoftEndpoint* endpoint = core_.endpoints.find(Handle{static_cast<std::uint64_t>(token)});
  if (endpoint != nullptr) endpoint->on_neighbour(error);
}

void SoftTransportImpl::on_path(NeighbourToken token, int error) {
  SoftEndpoint* endpoint = core_.endpoints.find(Handle{static_cast<std::uint64_t>(token)});
  if (endpoint != nullptr) endpoint->on_path(error);
}

void SoftTransportImpl::on_address_change(int interface) {
  Device* device = core_.device_on(interface);
  if (device == nullptr) return;
  for (AttachedHook& hook : device->attached) {
    static_cast<SoftEndpoint&>(hook).on_link_changed();
  }
}

void SoftTransportImpl::on_neighbour_changed(int interface, const Address& address) {
  Device* device = core_.device_on(interface);
  if (device == nullptr) return;
  for (AttachedHook& hook : device->attached) {
    static_cast<SoftEndpoint&>(hook).on_neighbour_changed(address);
  }
}

bool SoftTransportImpl::on_group_lost(const Address& group) {
  bool any = false;
  for (const auto& device : core_.devices) {
    for (AttachedHook& hook : device->attached)
      any |= static_cast<SoftEndpoint&>(hook).lose_group(group);
  }
  return any;
}

void SoftTransportImpl::on_peer_gone(Instant now, std::uint32_t peer_id_tag,
                                     std::uint32_t peer_id_tag_mask,
                                     std::span<const ibcm::Gid> gids) {
  waiting_.forget(peer_id_tag, peer_id_tag_mask, gids);
  for (const auto& device : core_.devices) {
    device->agent->on_peer_gone(now, peer_id_tag, peer_id_tag_mask, gids);
  }
}

void SoftTransportImpl::on_timer(Instant now) {
  for (const auto& device : core_.devices) device->agent->on_timer(now);
  std::erase_if(core_.unrouted, [&](const Core::Unrouted& each) {
    if (each.due > now) return false;
    on_path(each.token, each.error);
    return true;
  });
}

std::optional<Instant> SoftTransportImpl::next_deadline() const {
  std::optional<Instant> first;
  for (const auto& device : core_.devices) {
    first = verbs::earlier(first, device->agent->next_deadline());
  }
  for (const Core::Unrouted& each : core_.unrouted) first = verbs::earlier(first, each.due);
  return first;
}

}  // namespace anyrdma::transport::soft
