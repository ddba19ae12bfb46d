// The first thing to read: two hosts that do not exist, a connection, a message, and a fault.
// Each host's program is ordinary blocking code on a fiber; time is virtual.
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/fault_plan.h"
#include "sim/world.h"
#include "transport/event_name.h"
#include "verbs/memory.h"

namespace {

using namespace anyrdma;
using namespace std::chrono_literals;

constexpr std::uint16_t kPort = 7471;
char message[] = "hello, other machine";  // NOLINT: both hosts of this example use it

/// Waits for the next event and says what it was.
cm::Event next(sim::Host& host, cm::EventChannel& channel) {
  cm::Event event = channel.get().value();
  std::printf("  %-6s %s, status %d\n", host.name().c_str(), transport::event_name(event.type()),
              event.status());
  return event;
}

/// A queue pair for `id`; its protection domain and completion queues are made along with it.
void make_queue_pair(cm::Id& id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  id.create_qp(nullptr, &attr).value();
}

/// Polls until the work is done; polling lets virtual time pass.
bool succeeds(ibv_cq* cq) {
  ibv_wc completion{};
  while (ibv_poll_cq(cq, 1, &completion) == 0) continue;
  return completion.status == IBV_WC_SUCCESS;
}

void serve(sim::Host& host) {
  auto channel = cm::EventChannel::create(host.transport()).value();
  auto listener = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
  const sockaddr_storage local = host.address(kPort).to_sockaddr();
  listener->bind(reinterpret_cast<const sockaddr*>(&local)).value();
  listener->listen(1).value();

  std::unique_ptr<cm::Id> id = next(host, *channel).take_request();
  make_queue_pair(*id);
  char received[sizeof message] = {};
  {
    auto memory =
        verbs::MemoryRegion::create(id->qp()->pd, received, sizeof received, IBV_ACCESS_LOCAL_WRITE)
            .value();
    ibv_sge piece = memory.piece(0, sizeof received);
    ibv_recv_wr receive{.wr_id = 1, .next = nullptr, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    ibv_post_recv(id->qp(), &receive, &bad);
    id->accept(nullptr).value();
    next(host, *channel);  // ESTABLISHED
    if (succeeds(id->qp()->recv_cq)) std::printf("  server got \"%s\"\n", received);
    next(host, *channel);  // DISCONNECTED
    id->disconnect().value();
    id->destroy_qp().value();
  }
}

/// The talk of an established connection.
void send_message(cm::Id& id) {
  auto memory = verbs::MemoryRegion::create(id.qp()->pd, message, sizeof message, 0).value();
  ibv_sge piece = memory.piece(0, sizeof message);
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.sg_list = &piece;
  send.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  ibv_post_send(id.qp(), &send, &bad);
  if (!succeeds(id.qp()->send_cq)) std::puts("  the message was not delivered");
}

void ask(sim::Host& host, const sim::Address& server) {
  auto channel = cm::EventChannel::create(host.transport()).value();
  auto id = cm::Id::create(*channel, RDMA_PS_TCP, nullptr).value();
  const sockaddr_storage peer = server.to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), 2s).value();
  next(host, *channel);  // ADDR_RESOLVED
  id->resolve_route(2s).value();
  next(host, *channel);  // ROUTE_RESOLVED
  make_queue_pair(*id);
  id->connect(nullptr).value();
  if (next(host, *channel).type() == RDMA_CM_EVENT_ESTABLISHED) {
    send_message(*id);
    id->disconnect().value();
    next(host, *channel);  // DISCONNECTED
  }
  id->destroy_qp().value();
}

/// One run: the same seed and plan give the same trace, on every machine.
void run(const char* title, const char* plan) {
  std::printf("%s\n", title);
  sim::World world(/*seed=*/7);
  sim::Host& server = world.add_host("server", {"10.0.0.1"});
  sim::Host& client = world.add_host("client", {"10.0.0.2"});
  world.faults().inject(sim::FaultPlan::parse(plan).value()).value();
  server.spawn(
      "serve", [&] { serve(server); }, sim::Ending::kMayServe);
  client.spawn("ask", [&] { ask(client, server.address(kPort)); });
  if (!world.run()) std::printf("%s", world.stuck_report().c_str());
  std::printf("  after %.3f s of virtual time, trace %016llx\n",
              std::chrono::duration<double>(world.now().time_since_epoch()).count(),
              static_cast<unsigned long long>(world.trace().hash()));
}

}  // namespace

int main() {
  run("A message:", "");
  run("The same, but no REQ ever arrives:", "on client->server REQ all: lose");
}
