// A client and a server as C programs are: nothing but <rdma/rdma_cma.h> and <rdma/rdma_verbs.h>.
// main() runs each on a simulated host, first in peace, then with a listener that refuses.
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cstdio>
#include <cstring>

#include "sim/world.h"

namespace {

constexpr int kPort = 7471;
constexpr int kTimeoutMs = 2000;

// --- the programs -------------------------------------------------------------------------------

sockaddr_in address_of(const char* ip) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  inet_pton(AF_INET, ip, &address.sin_addr);
  return address;
}

/// Waits for the next event and says what it was; the id is that of the event.
rdma_cm_event_type next(rdma_event_channel* channel, rdma_cm_id** id = nullptr) {
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(channel, &event) != 0) {
    std::perror("rdma_get_cm_event");
    return RDMA_CM_EVENT_DEVICE_REMOVAL;
  }
  const rdma_cm_event_type type = event->event;
  std::printf("  %s, status %d\n", rdma_event_str(type), event->status);
  if (id != nullptr) *id = event->id;
  rdma_ack_cm_event(event);
  return type;
}

int make_qp(rdma_cm_id* id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  return rdma_create_qp(id, nullptr, &attr);
}

/// Serves the connection that `id` was made for.
int hear(rdma_event_channel* channel, rdma_cm_id* id) {
  char text[32] = {};
  ibv_wc completion{};
  if (make_qp(id) != 0) return 1;
  ibv_mr* memory = rdma_reg_msgs(id, text, sizeof text);
  rdma_post_recv(id, nullptr, text, sizeof text, memory);
  rdma_accept(id, nullptr);
  next(channel);                        // ESTABLISHED
  rdma_get_recv_comp(id, &completion);  // blocks in ibv_get_cq_event
  std::printf("  the server got \"%s\"\n", text);
  next(channel);  // DISCONNECTED
  rdma_disconnect(id);
  rdma_dereg_mr(memory);
  rdma_destroy_qp(id);
  return 0;
}

int serve(const char* ip) {
  rdma_cm_id *listener = nullptr, *id = nullptr;
  sockaddr_in address = address_of(ip);
  rdma_event_channel* channel = rdma_create_event_channel();

  rdma_create_id(channel, &listener, nullptr, RDMA_PS_TCP);
  rdma_bind_addr(listener, reinterpret_cast<sockaddr*>(&address));
  rdma_listen(listener, 1);
  int status = 1;
  if (next(channel, &id) == RDMA_CM_EVENT_CONNECT_REQUEST) {
    status = hear(channel, id);
    rdma_destroy_id(id);
  }
  rdma_destroy_id(listener);
  rdma_destroy_event_channel(channel);
  return status;
}

int talk(rdma_event_channel* channel, rdma_cm_id* id, const char* ip) {
  char text[32] = "hello from C";
  ibv_wc completion{};
  sockaddr_in address = address_of(ip);

  rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&address), kTimeoutMs);
  if (next(channel) != RDMA_CM_EVENT_ADDR_RESOLVED) return 1;
  rdma_resolve_route(id, kTimeoutMs);
  if (next(channel) != RDMA_CM_EVENT_ROUTE_RESOLVED) return 1;
  if (make_qp(id) != 0) return 1;
  rdma_connect(id, nullptr);
  const bool connected = next(channel) == RDMA_CM_EVENT_ESTABLISHED;
  if (connected) {
    ibv_mr* memory = rdma_reg_msgs(id, text, sizeof text);
    rdma_post_send(id, nullptr, text, sizeof text, memory, 0);
    while (ibv_poll_cq(id->send_cq, 1, &completion) == 0) continue;  // lets virtual time pass
    rdma_disconnect(id);
    next(channel);  // DISCONNECTED
    rdma_dereg_mr(memory);
  }
  rdma_destroy_qp(id);
  return connected ? 0 : 1;
}

int ask(const char* ip) {
  rdma_cm_id* id = nullptr;
  rdma_event_channel* channel = rdma_create_event_channel();
  rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP);
  const int status = talk(channel, id, ip);
  rdma_destroy_id(id);
  rdma_destroy_event_channel(channel);
  return status;
}

// --- the world ----------------------------------------------------------------------------------

/// What the client's program returned.
int run(const char* title, const char* plan) {
  std::puts(title);
  int status = -1;  // before the world: programs write in it until the world has ended
  anyrdma::sim::World world(/*seed=*/7);
  auto& server = world.add_host("server", {"10.0.0.1"});
  auto& client = world.add_host("client", {"10.0.0.2"});
  world.faults().inject(anyrdma::sim::FaultPlan::parse(plan).value()).value();
  server.spawn(
      "serve", [] { serve("10.0.0.1"); }, anyrdma::sim::Ending::kMayServe);
  client.spawn("ask", [&] { status = ask("10.0.0.1"); });
  if (!world.run()) std::fputs(world.stuck_report().c_str(), stdout);
  return status;
}

}  // namespace

int main() {
  const int peace = run("A message:", "");
  const int refused =
      run("The same, but the listener's host refuses:", "on server request 1: reject 28 6e6f");
  return peace == 0 && refused == 1 ? 0 : 1;
}
