// facts ADDRESS: asks the connection manager it is started with what it does, through the C API,
// and prints what it answers, line by line. tests/rxe_vm holds the drop-in's answers against the
// kernel's.
//
// One process plays both sides, in one thread. Each side has a channel of its own and waits for its
// next event when the scenario says so, so the text is the same in every run: it names no port, no
// address and no time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kPatience = 30'000;  // milliseconds until an event counts as missing
constexpr int kResolveTimeout = 2'000;

sockaddr_in device_address{};  // port 0

// Prints what a call returned: 0 or the name of its errno.
void said(const char* side, const char* call, int result) {
  std::printf("%s %s: %s\n", side, call, result == 0 ? "0" : strerrorname_np(errno));
}

std::string text_of(const rdma_conn_param& param) {
  const auto* data = static_cast<const char*>(param.private_data);
  if (data == nullptr) return "none of " + std::to_string(param.private_data_len);
  const std::size_t written = strnlen(data, param.private_data_len);
  const bool padded = std::all_of(data + written, data + param.private_data_len,
                                  [](char byte) { return byte == 0; });
  return '"' + std::string(data, written) + "\" of " + std::to_string(param.private_data_len) +
         (padded ? "" : ", dirt behind it");
}

struct Side {
  explicit Side(const char* name_of_side) : name(name_of_side) {
    channel = rdma_create_event_channel();
    if (channel == nullptr) {
      std::perror("rdma_create_event_channel");
      std::exit(1);
    }
    create();
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() {
    destroy(id);
    destroy(listener);
    rdma_destroy_event_channel(channel);
  }

  void create() {
    if (rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) != 0) std::abort();
  }

  static void destroy(rdma_cm_id*& which) {
    if (which == nullptr) return;
    if (which->qp != nullptr) rdma_destroy_qp(which);
    rdma_destroy_id(which);
    which = nullptr;
  }

  // Until the next event can be fetched.
  bool await() const {
    pollfd readable{channel->fd, POLLIN, 0};
    if (::poll(&readable, 1, kPatience) == 1) return true;
    std::printf("%s: no event\n", name);
    return false;
  }

  // Fetches, prints and acknowledges one event. A request's id becomes this side's, the listening
  // one is kept beside it.
  void next() {
    rdma_cm_event* event = nullptr;
    if (!await()) return;
    if (rdma_get_cm_event(channel, &event) != 0) {
      said(name, "rdma_get_cm_event", -1);
      return;
    }
    const rdma_conn_param& param = event->param.conn;
    std::printf("%s %s status %d, private data %s\n", name, rdma_event_str(event->event) + 14,
                event->status, text_of(param).c_str());
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
        event->event == RDMA_CM_EVENT_CONNECT_RESPONSE ||
        event->event == RDMA_CM_EVENT_ESTABLISHED) {
      std::printf(
          "  responder resources %u, initiator depth %u, flow control %u, retries %u, %u, %s\n",
          param.responder_resources, param.initiator_depth, param.flow_control, param.retry_count,
          param.rnr_retry_count, param.qp_num != 0 ? "a QP" : "no QP");
    }
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      listener = event->listen_id;
      id = event->id;
    }
    rdma_ack_cm_event(event);
  }

  void bind_and_listen() {
    said(name, "rdma_bind_addr", rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&device_address)));
    said(name, "rdma_listen", rdma_listen(id, 1));
  }

  void resolve(sockaddr_in target) {
    auto* address = reinterpret_cast<sockaddr*>(&target);
    said(name, "rdma_resolve_addr", rdma_resolve_addr(id, nullptr, address, kResolveTimeout));
    next();
    said(name, "rdma_resolve_route", rdma_resolve_route(id, kResolveTimeout));
    next();
  }

  void create_qp() {
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {4, 4, 1, 1, 0};
    said(name, "rdma_create_qp", rdma_create_qp(id, nullptr, &attributes));
  }

  // Where this side's id is bound.
  [[nodiscard]] sockaddr_in address() const {
    sockaddr_in bound = device_address;
    bound.sin_port = rdma_get_src_port(id);
    return bound;
  }

  const char* name;
  rdma_event_channel* channel = nullptr;
  rdma_cm_id* id = nullptr;
  rdma_cm_id* listener = nullptr;
};

rdma_conn_param with_data(const char* text, std::size_t length) {
  static char buffer[256];
  std::memset(buffer, 0, sizeof buffer);
  std::snprintf(buffer, sizeof buffer, "%s", text);
  rdma_conn_param param{};
  param.private_data = buffer;
  param.private_data_len = static_cast<std::uint8_t>(length);
  param.retry_count = 3;
  param.rnr_retry_count = 5;
  return param;
}

// Server and client, up to the request in the server's hands.
struct Requested {
  Requested() {
    server.bind_and_listen();
    client.resolve(server.address());
    client.create_qp();
    rdma_conn_param param = with_data("please", 56);
    said("client", "rdma_connect", rdma_connect(client.id, &param));
    server.next();
  }
  Side server{"server"};
  Side client{"client"};
};

void addresses_and_ports() {
  Side first("first");
  first.bind_and_listen();
  Side second("second");
  sockaddr_in taken = first.address();
  said("second", "rdma_bind_addr to a port in use",
       rdma_bind_addr(second.id, reinterpret_cast<sockaddr*>(&taken)));
  said("second", "rdma_listen without rdma_bind_addr", rdma_listen(second.id, 0));
  std::printf("second has %s\n", rdma_get_src_port(second.id) != 0 ? "a port" : "no port");
  said("second", "rdma_listen again", rdma_listen(second.id, 0));
  Side client("client");
  client.resolve(taken);
  said("client", "rdma_resolve_addr again",
       rdma_resolve_addr(client.id, nullptr, reinterpret_cast<sockaddr*>(&taken), kResolveTimeout));
  said("client", "rdma_listen", rdma_listen(client.id, 0));
}

void nobody_listens() {
  Side server("server");
  server.bind_and_listen();
  const sockaddr_in gone = server.address();
  Side::destroy(server.id);
  Side client("client");
  client.resolve(gone);
  client.create_qp();
  rdma_conn_param param = with_data("hello", 5);
  said("client", "rdma_connect", rdma_connect(client.id, &param));
  client.next();
  said("client", "rdma_connect again", rdma_connect(client.id, &param));
  said("client", "rdma_disconnect", rdma_disconnect(client.id));
}

void the_server_rejects() {
  Requested both;
  const rdma_conn_param param = with_data("no", 148);
  said("server", "rdma_reject with 149 bytes",
       rdma_reject(both.server.id, param.private_data, 149));
  said("server", "rdma_reject with 148 bytes",
       rdma_reject(both.server.id, param.private_data, 148));
  both.client.next();
}

void the_servers_answer_is_too_long() {
  Requested both;
  both.server.create_qp();
  rdma_conn_param param = with_data("yes", 197);
  said("server", "rdma_accept with 197 bytes", rdma_accept(both.server.id, &param));
  both.client.next();
}

void the_listener_goes_before_it_looks() {
  Side server("server");
  server.bind_and_listen();
  Side client("client");
  client.resolve(server.address());
  client.create_qp();
  rdma_conn_param param = with_data("hello", 5);
  said("client", "rdma_connect", rdma_connect(client.id, &param));
  server.await();
  Side::destroy(server.id);
  client.next();
}

void misuse_when_connected(Side& side) {
  rdma_conn_param param = with_data("more", 4);
  said(side.name, "rdma_notify of COMM_EST", rdma_notify(side.id, IBV_EVENT_COMM_EST));
  said(side.name, "rdma_notify of SQ_DRAINED", rdma_notify(side.id, IBV_EVENT_SQ_DRAINED));
  said(side.name, "rdma_accept", rdma_accept(side.id, &param));
  said(side.name, "rdma_reject", rdma_reject(side.id, nullptr, 0));
  said(side.name, "rdma_connect", rdma_connect(side.id, &param));
}

void a_whole_life() {
  Side server("server");
  server.bind_and_listen();
  Side client("client");
  client.resolve(server.address());
  client.create_qp();
  rdma_conn_param request = with_data("hello", 57);
  request.responder_resources = 3;
  request.initiator_depth = 5;
  said("client", "rdma_connect with 57 bytes", rdma_connect(client.id, &request));
  request.private_data_len = 56;
  said("client", "rdma_connect with 56 bytes", rdma_connect(client.id, &request));
  server.next();
  server.create_qp();
  rdma_conn_param reply = with_data("welcome", 196);
  reply.responder_resources = 1;
  reply.initiator_depth = 2;
  said("server", "rdma_accept with 196 bytes", rdma_accept(server.id, &reply));
  client.next();
  server.next();
  misuse_when_connected(client);
  misuse_when_connected(server);
  said("client", "rdma_disconnect", rdma_disconnect(client.id));
  server.next();
  said("server", "rdma_disconnect", rdma_disconnect(server.id));
  client.next();
  client.next();
  server.next();
  said("client", "rdma_disconnect again", rdma_disconnect(client.id));
}

void a_life_without_queue_pairs() {
  Side server("server");
  server.bind_and_listen();
  Side client("client");
  client.resolve(server.address());
  rdma_conn_param param = with_data("hello", 5);
  param.qp_num = 100;
  said("client", "rdma_connect", rdma_connect(client.id, &param));
  server.next();
  param.qp_num = 101;
  said("server", "rdma_accept", rdma_accept(server.id, &param));
  client.next();
  said("client", "rdma_establish", rdma_establish(client.id));
  server.next();
  said("server", "rdma_disconnect", rdma_disconnect(server.id));
  client.next();
  Side::destroy(client.id);
  server.next();
}

}  // namespace

int main(int argc, char** argv) {
  device_address.sin_family = AF_INET;
  if (argc != 2 || inet_pton(AF_INET, argv[1], &device_address.sin_addr) != 1) return 2;
  const struct {
    const char* name;
    void (*play)();
  } scenarios[] = {
      {"addresses and ports", addresses_and_ports},
      {"nobody listens", nobody_listens},
      {"the server rejects", the_server_rejects},
      {"the server's answer is too long", the_servers_answer_is_too_long},
      {"the listener goes before it looks", the_listener_goes_before_it_looks},
      {"a whole life", a_whole_life},
      {"a life without queue pairs", a_life_without_queue_pairs},
  };
  for (const auto& scenario : scenarios) {
    std::printf("== %s\n", scenario.name);
    scenario.play();
    std::fflush(stdout);
  }
  return 0;
}
