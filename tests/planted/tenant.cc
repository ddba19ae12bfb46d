#include "tests/planted/tenant.h"

#include <rdma/rdma_cma.h>

#include <chrono>
#include <memory>
#include <utility>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/world.h"
#include "verbs/memory.h"
#include "verbs/provider.h"

namespace anyrdma::planted {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kDoor = 7472;
constexpr std::uint16_t kWindow = 7473;
constexpr std::uint32_t kGroup = 0xef010203;
constexpr std::uint32_t kQueuePair = 0x77;  // nobody sends
constexpr auto kPatience = 2000ms;
constexpr int kStale = 10;

rdma_conn_param parameters() {
  rdma_conn_param param{};
  param.qp_num = kQueuePair;
  return param;
}

// --- the house ----------------------------------------------------------------------------------

void let_room(sim::Host& host, Tenancy& tenancy) {
  const auto channel = cm::EventChannel::create(host.transport());
  if (!channel) return;
  auto door = cm::Id::create(**channel, RDMA_PS_TCP, nullptr);
  if (!door) return;
  const sockaddr_storage address = host.address(kDoor).to_sockaddr();
  if (!(*door)->bind(reinterpret_cast<const sockaddr*>(&address)) || !(*door)->listen(8)) return;
  tenancy.open = true;
  std::unique_ptr<cm::Id> tenant;
  const rdma_conn_param param = parameters();
  while (auto event = (*channel)->get()) {
    const rdma_cm_event_type type = event->type();
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      std::unique_ptr<cm::Id> asks = event->take_request();
      event->ack();
      if (tenant != nullptr) {
        (void)asks->reject({}).has_value();
      } else if (asks->accept(&param)) {
        tenant = std::move(asks);
      }
    } else if (type == RDMA_CM_EVENT_DISCONNECTED) {
      event->ack();
      tenant.reset();
    }
  }
  tenancy.open = false;
}

// --- a tenant -----------------------------------------------------------------------------------

class Tenant : public std::enable_shared_from_this<Tenant> {
 public:
  Tenant(sim::Host& host, const sim::Address& house, Tenancy& tenancy)
      : host_(host), house_(house), tenancy_(tenancy) {}

  void live() {
    const auto channel = cm::EventChannel::create(host_.transport());
    if (!channel) return;
    std::unique_ptr<cm::Id> room = move_in(**channel);
    if (room == nullptr) return;
    ++tenancy_.moved_in;
    start("group", [](Tenant& tenant) { tenant.hear_group(); });
    start("device", [](Tenant& tenant) { tenant.heed_device(); });
    while ((*channel)->get()) continue;
  }

 private:
  void start(const char* name, void (*life)(Tenant&)) {
    host_.spawn(
        name, [self = shared_from_this(), life] { life(*self); }, sim::Ending::kMayServe);
  }

  /// The next event's status; -1: it is another one.
  static int await(cm::EventChannel& channel, rdma_cm_event_type wanted) {
    auto event = channel.get();
    return event && event->type() == wanted ? event->status() : -1;
  }

  /// What the door says: the room's id, null and the reason of a refusal, or null and 0.
  std::unique_ptr<cm::Id> knock(cm::EventChannel& channel, int& reason) {
    auto id = cm::Id::create(channel, RDMA_PS_TCP, nullptr);
    if (!id) return nullptr;
    const sockaddr_storage to = house_.to_sockaddr();
    const rdma_conn_param param = parameters();
    if (!(*id)->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience) ||
        await(channel, RDMA_CM_EVENT_ADDR_RESOLVED) != 0 || !(*id)->resolve_route(kPatience) ||
        await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) != 0 || !(*id)->connect(&param)) {
      return nullptr;
    }
    auto answer = channel.get();
    if (!answer) return nullptr;
    if (answer->type() == RDMA_CM_EVENT_REJECTED) reason = answer->status();
    if (answer->type() != RDMA_CM_EVENT_CONNECT_RESPONSE) return nullptr;
    answer->ack();
    if (!(*id)->establish()) return nullptr;
    return std::move(*id);
  }

  /// A house that remembers whoever had our number has forgotten him a little later.
  std::unique_ptr<cm::Id> move_in(cm::EventChannel& channel) {
    for (int attempt = 0; attempt < 3; ++attempt) {
      int reason = 0;
      auto room = knock(channel, reason);
      if (room != nullptr || reason != kStale) return room;
      if (!host_.sleep(1s)) return nullptr;
    }
    return nullptr;
  }

  void hear_group() {
    const auto channel = cm::EventChannel::create(host_.transport());
    if (!channel) return;
    auto id = cm::Id::create(**channel, RDMA_PS_UDP, nullptr);
    const sockaddr_storage own = host_.address(kWindow).to_sockaddr();
    const sockaddr_storage group = sim::Address::ipv4(kGroup).to_sockaddr();
    const auto* name = reinterpret_cast<const sockaddr*>(&group);
    if (!id || !(*id)->bind(reinterpret_cast<const sockaddr*>(&own))) return;
    if (!(*id)->join_multicast(name, nullptr)) return;
    while (auto event = (*channel)->get()) {
      const bool lost = event->type() == RDMA_CM_EVENT_MULTICAST_ERROR;
      event->ack();
      tenancy_.member = !lost;
      if (!lost) continue;
      if (!(*id)->leave_multicast(name) || !(*id)->join_multicast(name, nullptr)) return;
    }
  }

  /// A shared receive queue that failed is replaced.
  verbs::Result<ibv_srq*> make_queue(verbs::Provider& device, ibv_pd* domain) {
    ibv_srq_init_attr wanted{};
    wanted.attr.max_wr = 4;
    wanted.attr.max_sge = 1;
    ++tenancy_.queues;
    return device.create_srq(domain, &wanted);
  }

  void heed_device() {
    verbs::Provider& device = host_.hca();
    const auto context = device.open_device(host_.hca().device());
    if (!context) return;
    {
      const auto domain = verbs::ProtectionDomain::create(*context);
      if (domain) heed(device, *context, domain->get());
    }
    (void)device.close_device(*context).has_value();
  }

  void heed(verbs::Provider& device, ibv_context* context, ibv_pd* domain) {
    auto queue = make_queue(device, domain);
    ++tenancy_.registrations;
    while (queue) {
      const auto event = device.get_async_event(context);
      if (!event) break;
      device.ack_async_event(*event);
      switch (event->event_type) {
        case IBV_EVENT_CLIENT_REREGISTER:
          ++tenancy_.registrations;
          break;
        case IBV_EVENT_PKEY_CHANGE:
          ++tenancy_.partition_looks;
          break;
        case IBV_EVENT_GID_CHANGE:
        case IBV_EVENT_LID_CHANGE:
          ++tenancy_.address_looks;
          break;
        case IBV_EVENT_SM_CHANGE:
          ++tenancy_.manager_looks;
          break;
        case IBV_EVENT_SRQ_ERR:
          (void)device.destroy_srq(*queue).has_value();
          queue = make_queue(device, domain);
          break;
        case IBV_EVENT_DEVICE_FATAL:
          tenancy_.given_up = true;
          (void)device.destroy_srq(*queue).has_value();
          return;
        default:
          break;
      }
    }
    if (queue) (void)device.destroy_srq(*queue).has_value();
  }

  sim::Host& host_;
  const sim::Address house_;
  Tenancy& tenancy_;
};

}  // namespace

void start_house(sim::Host& host, Tenancy& tenancy) {
  host.spawn(
      "house", [&host, &tenancy] { let_room(host, tenancy); }, sim::Ending::kMayServe);
}

void start_tenant(sim::Host& host, const sim::Host& house, Tenancy& tenancy) {
  const auto tenant = std::make_shared<Tenant>(host, house.address(kDoor), tenancy);
  host.spawn(
      "tenant", [tenant] { tenant->live(); }, sim::Ending::kMayServe);
}

}  // namespace anyrdma::planted
