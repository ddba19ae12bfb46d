// Whole lives of connections between two fibers: create, resolve, connect, accept, SEND,
// disconnect, destroy, both sides counted as one life.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/world.h"
#include "verbs/completion_queue.h"
#include "verbs/memory.h"

namespace anyrdma::bench {

inline constexpr std::uint16_t kPort = 7471;
inline constexpr std::uint32_t kMessageBytes = 64;

/// What a program keeps between connections, as servers do: domain, memory, completion queue.
struct Resources {
  explicit Resources(ibv_context* context)
      : pd(verbs::ProtectionDomain::create(context).value()),
        cq(verbs::CompletionQueue::create(context, 64).value()),
        memory(verbs::MemoryRegion::create(pd.get(), buffer.data(), buffer.size(),
                                           IBV_ACCESS_LOCAL_WRITE)
                   .value()) {}

  void make_queue_pair(cm::Id& id) {
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.sq_sig_all = 1;
    attr.send_cq = attr.recv_cq = cq.get();
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    id.create_qp(pd.get(), &attr).value();
  }

  void post_receive(cm::Id& id) {
    ibv_sge piece = memory.piece(0, kMessageBytes);
    ibv_recv_wr request{.wr_id = 1, .next = nullptr, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    ibv_post_recv(id.qp(), &request, &bad);
  }

  void post_send(cm::Id& id) {
    ibv_sge piece = memory.piece(0, kMessageBytes);
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_send_wr* bad = nullptr;
    ibv_post_send(id.qp(), &request, &bad);
  }

  void await_completion() {
    ibv_wc completion{};
    while (ibv_poll_cq(cq.get(), 1, &completion) == 0) continue;
  }

  std::array<std::uint8_t, kMessageBytes> buffer{};
  verbs::ProtectionDomain pd;
  verbs::CompletionQueue cq;
  verbs::MemoryRegion memory;
};

/// Serves connections one after the other until the world ends.
inline void serve(sim::Host& host) {
  auto channel = cm::EventChannel::create(host.transport()).value();
  auto listener = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
  const sockaddr_storage local = host.address(kPort).to_sockaddr();
  listener->bind(reinterpret_cast<const sockaddr*>(&local)).value();
  listener->listen(64).value();
  Resources resources(listener->raw()->verbs);
  for (;;) {
    auto request = channel->get();
    if (!request) return;
    std::unique_ptr<cm::Id> id = request->take_request();
    request->ack();
    resources.make_queue_pair(*id);
    resources.post_receive(*id);
    id->accept(nullptr).value();
    channel->get().value().ack();  // ESTABLISHED
    resources.await_completion();
    channel->get().value().ack();  // DISCONNECTED
    id->disconnect().value();
    id->destroy_qp().value();
  }
}

/// One life, seen from the client.
inline void live(cm::EventChannel& channel, std::optional<Resources>& kept,
                 const sockaddr* server) {
  auto id = cm::Id::create(channel, RDMA_PS_TCP, nullptr).value();
  id->resolve_addr(nullptr, server, std::chrono::seconds(2)).value();
  channel.get().value().ack();
  id->resolve_route(std::chrono::seconds(2)).value();
  channel.get().value().ack();
  if (!kept) kept.emplace(id->raw()->verbs);
  Resources& resources = *kept;
  resources.make_queue_pair(*id);
  id->connect(nullptr).value();
  channel.get().value().ack();  // ESTABLISHED
  resources.post_send(*id);
  resources.await_completion();
  id->disconnect().value();
  channel.get().value().ack();  // DISCONNECTED
  id->destroy_qp().value();
}

/// Runs a world in which a client lives such lives: `lives` gets a function for one life, and the
/// world. False: the world got stuck.
template <class Lives>
[[nodiscard]] bool live_in_world(const sim::WorldOptions& options, Lives&& lives) {
  sim::World world(1, options);
  sim::Host& server = world.add_host("server", {"10.0.0.1"});
  sim::Host& client = world.add_host("client", {"10.0.0.2"});
  server.spawn(
      "serve", [&] { serve(server); }, sim::Ending::kMayServe);
  client.spawn("live", [&] {
    auto channel = cm::EventChannel::create(client.transport()).value();
    const sockaddr_storage peer = server.address(kPort).to_sockaddr();
    std::optional<Resources> resources;
    lives(world, [&] { live(*channel, resources, reinterpret_cast<const sockaddr*>(&peer)); });
  });
  return world.run().has_value();
}

}  // namespace anyrdma::bench
