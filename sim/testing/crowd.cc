#include "sim/testing/crowd.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/world.h"
#include "verbs/assert.h"
#include "verbs/completion_queue.h"
#include "verbs/memory.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t kFirstPort = 7471;
constexpr std::uint32_t kReply = 0x8000'0000;  // set in the message that comes back

/// What both sides have: a connection is a number, and its message a word in one buffer.
class Side {
 public:
  Side(Host& host, const CrowdPlan& plan)
      : host_(host),
        plan_(plan),
        channel_(cm::EventChannel::create(host.transport()).value()),
        ids_(plan.connections),
        words_(plan.connections) {}

 protected:
  /// Verbs objects, as soon as an id has a device.
  void need_objects(ibv_context* verbs) {
    if (pd_) return;
    const auto depth = static_cast<int>(2 * plan_.at_once);
    pd_.emplace(verbs::ProtectionDomain::create(verbs).value());
    cq_.emplace(verbs::CompletionQueue::create(verbs, depth).value());
    memory_.emplace(verbs::MemoryRegion::create(pd_->get(), words_.data(),
                                                words_.size() * sizeof(std::uint32_t),
                                                IBV_ACCESS_LOCAL_WRITE)
                        .value());
  }

  void make_queue_pair(std::uint32_t number) {
    cm::Id& id = *ids_[number];
    need_objects(id.raw()->verbs);
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = attr.recv_cq = cq_->get();
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    id.create_qp(pd_->get(), &attr).value();
    ibv_sge word = word_of(number);
    ibv_recv_wr request{.wr_id = number, .next = nullptr, .sg_list = &word, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    CM_ASSERT(ibv_post_recv(id.qp(), &request, &bad) == 0);
  }

  void send_word(std::uint32_t number) {
    ibv_sge word = word_of(number);
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.sg_list = &word;
    request.num_sge = 1;
    ibv_send_wr* bad = nullptr;
    CM_ASSERT(ibv_post_send(ids_[number]->qp(), &request, &bad) == 0);
  }

  /// The number of the next connection that has received a word.
  std::uint32_t next_received() {
    ibv_wc completion{};
    while (ibv_poll_cq(cq_->get(), 1, &completion) == 0) continue;
    CM_ASSERT(completion.status == IBV_WC_SUCCESS);
    CM_ASSERT(completion.opcode == IBV_WC_RECV);
    return static_cast<std::uint32_t>(completion.wr_id);
  }

  void give_number(cm::Id& id, std::uint32_t number) {
    id.raw()->context = reinterpret_cast<void*>(std::uintptr_t{number});
  }
  [[nodiscard]] static std::uint32_t number_of(const cm::Id& id) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(id.context()));
  }

  void destroy(std::uint32_t number) {
    ids_[number]->destroy_qp().value();
    cm::Id::destroy(std::move(ids_[number])).value();
  }

  Host& host_;
  const CrowdPlan plan_;
  std::unique_ptr<cm::EventChannel> channel_;
  std::optional<verbs::ProtectionDomain> pd_;
  std::optional<verbs::CompletionQueue> cq_;
  std::vector<std::unique_ptr<cm::Id>> ids_;
  std::vector<std::uint32_t> words_;
  std::optional<verbs::MemoryRegion> memory_;

 private:
  [[nodiscard]] ibv_sge word_of(std::uint32_t number) {
    return memory_->piece(number * sizeof(std::uint32_t), sizeof(std::uint32_t));
  }
};

class Server : Side {
 public:
  using Side::Side;

  std::uint32_t run() {
    std::vector<std::unique_ptr<cm::Id>> listeners;
    for (std::uint16_t i = 0; i < plan_.ports; ++i) listeners.push_back(listen(i));
    while (established_ < plan_.connections) take_event();
    for (std::uint32_t i = 0; i < plan_.connections; ++i) {
      const std::uint32_t number = next_received();
      words_[number] |= kReply;
      send_word(number);
    }
    while (ended_ < plan_.connections) take_event();
    return ended_;
  }

 private:
  std::unique_ptr<cm::Id> listen(std::uint16_t port) {
    auto id = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
    const auto local = static_cast<std::uint16_t>(kFirstPort + port);
    const sockaddr_storage address = host_.address(local).to_sockaddr();
    id->bind(reinterpret_cast<const sockaddr*>(&address)).value();
    id->listen(0).value();
    return id;
  }

  void take_event() {
    cm::Event event = channel_->get().value();
    const rdma_cm_event_type type = event.type();
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) return accept(event.take_request());
    const std::uint32_t number = number_of(event.id());
    event.ack();
    if (type == RDMA_CM_EVENT_ESTABLISHED) {
      ++established_;
    } else if (type == RDMA_CM_EVENT_DISCONNECTED) {
      ids_[number]->disconnect().value();
      destroy(number);
      ++ended_;
    }
  }

  void accept(std::unique_ptr<cm::Id> id) {
    const std::uint32_t number = accepted_++;
    ids_[number] = std::move(id);
    give_number(*ids_[number], number);
    make_queue_pair(number);
    ids_[number]->accept(nullptr).value();
  }

  std::uint32_t accepted_ = 0;
  std::uint32_t established_ = 0;
  std::uint32_t ended_ = 0;
};

class Client : Side {
 public:
  Client(Host& host, const CrowdPlan& plan, const Host& server)
      : Side(host, plan), server_(server) {}

  void run(CrowdResult& result, const std::function<void()>& at_peak) {
    const std::uint32_t all = plan_.connections;
    while (started_ < std::min(plan_.at_once, all)) start();
    while (result.up < all) {
      if (take_event() != RDMA_CM_EVENT_ESTABLISHED) continue;
      ++result.up;
      if (started_ < all) start();
    }
    for (std::uint32_t first = 0; first < all; first += plan_.at_once) talk(first, result);
    if (at_peak) at_peak();
    std::uint32_t left = all;
    for (std::uint32_t i = 0; i < std::min(plan_.at_once, all); ++i) stop(--left);
    while (result.down < all) {
      if (take_event() != RDMA_CM_EVENT_DISCONNECTED) continue;
      ++result.down;
      if (left > 0) stop(--left);
    }
  }

 private:
  void start() {
    const std::uint32_t number = started_++;
    const auto port = static_cast<std::uint16_t>(kFirstPort + number % plan_.ports);
    ids_[number] = cm::Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
    give_number(*ids_[number], number);
    const sockaddr_storage peer = server_.address(port).to_sockaddr();
    ids_[number]->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), 2s).value();
  }

  void stop(std::uint32_t number) { ids_[number]->disconnect().value(); }

  /// The next event's type; what can be done at once has been done.
  rdma_cm_event_type take_event() {
    cm::Event event = channel_->get().value();
    const rdma_cm_event_type type = event.type();
    const std::uint32_t number = number_of(event.id());
    event.ack();
    if (type == RDMA_CM_EVENT_ADDR_RESOLVED) {
      ids_[number]->resolve_route(2s).value();
    } else if (type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
      make_queue_pair(number);
      ids_[number]->connect(nullptr).value();
    } else if (type == RDMA_CM_EVENT_DISCONNECTED) {
      destroy(number);
    }
    return type;
  }

  void talk(std::uint32_t first, CrowdResult& result) {
    const std::uint32_t end = std::min(first + plan_.at_once, plan_.connections);
    for (std::uint32_t number = first; number < end; ++number) {
      words_[number] = number;
      send_word(number);
    }
    for (std::uint32_t i = first; i < end; ++i) {
      const std::uint32_t number = next_received();
      if (words_[number] == (number | kReply)) ++result.answered;
    }
  }

  const Host& server_;
  std::uint32_t started_ = 0;
};

/// One interface whose device has a queue pair for everyone.
HostOptions host_at(const char* address, std::uint32_t connections) {
  verbs::soft::HcaConfig device;
  device.max_qp = std::max(device.max_qp, connections);
  device.qpn_count = std::max(device.qpn_count, connections);
  InterfaceOptions interface {
    .addresses = { address }
  };
  interface.device = device;
  return {.interfaces = {interface}};
}

}  // namespace

CrowdResult run_crowd(const CrowdPlan& plan, const std::function<void()>& at_peak) {
  CrowdResult result;
  World world(1, {.tracing = plan.tracing});
  Host& server_host = world.add_host("server", host_at("10.0.0.1", plan.connections));
  Host& client_host = world.add_host("client", host_at("10.0.0.2", plan.connections));
  std::uint32_t ended_by_server = 0;
  server_host.spawn("serve", [&] { ended_by_server = Server(server_host, plan).run(); });
  client_host.spawn("connect",
                    [&] { Client(client_host, plan, server_host).run(result, at_peak); });
  result.at_rest = world.run().has_value();
  result.down = std::min(result.down, ended_by_server);
  result.hash = world.trace().hash();
  return result;
}

}  // namespace anyrdma::sim::testing
