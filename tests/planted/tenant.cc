#include "tests/planted/tenant.h"

#include <rdma/rdma_cma.h>

#include <array>
#include <chrono>
#include <cstddef>
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
constexpr int kNoListener = 8;  // IBTA vol 1, 12.6.7.2: invalid service id
constexpr int kStale = 10;
/// Reasons of our own for having no room: nobody was found there, or no way.
constexpr int kNobody = -1;
constexpr int kNoWay = -2;

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
  const sockaddr_storage address = sim::Address::ipv4(0, kDoor).to_sockaddr();
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

/// Two ways into one house.
using Doors = std::array<sim::Address, 2>;

// --- a tenant -----------------------------------------------------------------------------------

class Tenant : public std::enable_shared_from_this<Tenant> {
 public:
  Tenant(sim::Host& host, const Doors& house, Tenancy& tenancy)
      : host_(host), house_(house), tenancy_(tenancy) {}

  void live() {
    if (!host_.sleep(1ms)) return;
    const auto channel = cm::EventChannel::create(host_.transport());
    if (!channel) return;
    std::unique_ptr<cm::Id> room = move_in(**channel);
    if (room == nullptr) return;
    ++tenancy_.moved_in;
    start("group", [](Tenant& tenant) { tenant.hear_group(); });
    start("device", [](Tenant& tenant) { tenant.heed_device(); });
    while (auto event = (*channel)->get()) heed_link(event->type());
  }

 private:
  void start(const char* name, void (*life)(Tenant&)) {
    host_.spawn(
        name, [self = shared_from_this(), life] { life(*self); }, sim::Ending::kMayServe);
  }

  /// Links change below a connection, which goes on.
  void heed_link(rdma_cm_event_type type) {
    if (type == RDMA_CM_EVENT_ADDR_CHANGE) ++tenancy_.link_looks;
    if (type == RDMA_CM_EVENT_UNREACHABLE) ++tenancy_.neighbour_looks;
  }

  /// The next event's status; -1: it is another one.
  static int await(cm::EventChannel& channel, rdma_cm_event_type wanted) {
    auto event = channel.get();
    return event && event->type() == wanted ? event->status() : -1;
  }

  /// Whether there is a way to a door, and through it.
  static bool finds_way(cm::EventChannel& channel, cm::Id& id, const sim::Address& door,
                        int& reason) {
    const sockaddr_storage to = door.to_sockaddr();
    if (!id.resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience)) return false;
    if (await(channel, RDMA_CM_EVENT_ADDR_RESOLVED) != 0) {
      reason = kNobody;
      return false;
    }
    if (!id.resolve_route(kPatience)) return false;
    if (await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) == 0) return true;
    reason = kNoWay;
    return false;
  }

  /// What the door says: the room's id, null and the reason of a refusal, or null and 0.
  std::unique_ptr<cm::Id> knock(cm::EventChannel& channel, const sim::Address& door, int& reason) {
    auto id = cm::Id::create(channel, RDMA_PS_TCP, nullptr);
    if (!id) return nullptr;
    const rdma_conn_param param = parameters();
    if (!finds_way(channel, **id, door, reason) || !(*id)->connect(&param)) return nullptr;
    auto answer = channel.get();
    if (!answer) return nullptr;
    if (answer->type() == RDMA_CM_EVENT_REJECTED) reason = answer->status();
    if (answer->type() != RDMA_CM_EVENT_CONNECT_RESPONSE) return nullptr;
    answer->ack();
    if (!(*id)->establish()) return nullptr;
    return std::move(*id);
  }

  /// A house that remembers whoever had our number has forgotten him a little later; a question
  /// that was understood wrongly is asked again; and a house has two doors.
  std::unique_ptr<cm::Id> move_in(cm::EventChannel& channel) {
    std::size_t door = 0;
    for (int attempt = 0; attempt < 6; ++attempt) {
      int reason = 0;
      auto room = knock(channel, house_[door], reason);
      tenancy_.door = static_cast<int>(door);
      if (room != nullptr) return room;
      if (reason == 0 || (reason > 0 && reason != kStale && reason != kNoListener)) break;
      if (reason == kNobody) door = 1 - door;
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
      if (lost || event->type() == RDMA_CM_EVENT_MULTICAST_JOIN) tenancy_.member = !lost;
      event->ack();
      if (!lost) continue;
      if (!(*id)->leave_multicast(name) || !(*id)->join_multicast(name, nullptr)) return;
    }
  }

  /// What goes with whoever has it, wherever he is when he is killed.
  struct Context {
    verbs::Provider& device;
    ibv_context* context;
    ~Context() { (void)device.close_device(context).has_value(); }
  };
  struct Queue {
    verbs::Provider& device;
    ibv_srq* queue = nullptr;
    ~Queue() { replace_by(nullptr); }
    void replace_by(ibv_srq* next) {
      if (queue != nullptr) (void)device.destroy_srq(queue).has_value();
      queue = next;
    }
  };

  /// A shared receive queue that failed is replaced.
  ibv_srq* make_queue(verbs::Provider& device, ibv_pd* domain) {
    ibv_srq_init_attr wanted{};
    wanted.attr.max_wr = 4;
    wanted.attr.max_sge = 1;
    ++tenancy_.queues;
    const auto made = device.create_srq(domain, &wanted);
    return made ? *made : nullptr;
  }

  void heed_device() {
    verbs::Provider& device = host_.hca();
    const auto opened = device.open_device(host_.hca().device());
    if (!opened) return;
    const Context context{device, *opened};
    const auto domain = verbs::ProtectionDomain::create(*opened);
    if (domain) heed(device, *opened, domain->get());
  }

  void heed(verbs::Provider& device, ibv_context* context, ibv_pd* domain) {
    Queue queue{device, make_queue(device, domain)};
    ++tenancy_.registrations;
    while (queue.queue != nullptr) {
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
          queue.replace_by(nullptr);
          queue.replace_by(make_queue(device, domain));
          break;
        case IBV_EVENT_DEVICE_FATAL:
          tenancy_.given_up = true;
          return;
        default:
          break;
      }
    }
  }

  sim::Host& host_;
  const Doors house_;
  Tenancy& tenancy_;
};

}  // namespace

void start_house(sim::Host& host, Tenancy& tenancy) {
  host.spawn(
      "house", [&host, &tenancy] { let_room(host, tenancy); }, sim::Ending::kMayServe);
}

void start_tenant(sim::Host& host, const sim::Host& house, Tenancy& tenancy) {
  const Doors doors{house.address(kDoor, 0), house.address(kDoor, 1)};
  const auto tenant = std::make_shared<Tenant>(host, doors, tenancy);
  host.spawn_process(
      "tenant", [tenant] { tenant->live(); }, sim::Ending::kMayServe);
}

}  // namespace anyrdma::planted
