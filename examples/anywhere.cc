// One program for every transport: two hosts, a connection with private data both ways, a message.
//   bazel run //examples:anywhere -- --transport sim|fabric|udp|ucma|rxe|auto
// Server and client live in one thread and take turns. Waiting lets the other side go on: in the
// simulator virtual time passes, elsewhere a thread or the kernel does its part.
#include <netinet/in.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/event_name.h"
#include "transport/open/open.h"
#include "transport/own_addresses.h"
#include "verbs/memory.h"

namespace {

using namespace anyrdma;
using namespace std::chrono_literals;

/// One host: what it opened, its events, and the id that is connected.
struct Side {
  Side(const char* side, const std::string& transport, const transport::OpenOptions& options)
      : name(side),
        host(transport::open(transport, options).value()),
        channel(cm::EventChannel::create(host->transport()).value()) {}

  const char* name;
  std::unique_ptr<transport::Opened> host;
  std::unique_ptr<cm::EventChannel> channel;
  std::unique_ptr<cm::Id> id;
};

/// Waits for the next event, which must be of that type, and says what came with it.
cm::Event expect(Side& side, rdma_cm_event_type type) {
  cm::Event event = side.channel->get().value();
  std::printf("%-6s %s", side.name, transport::event_name(event.type()));
  if (const auto data = event.private_data(); !data.empty() && data[0] != 0) {
    std::printf(", \"%s\"", reinterpret_cast<const char*>(data.data()));
  }
  if (event.status() != 0) std::printf(", status %d", event.status());
  std::printf("\n");
  if (event.type() != type) {
    throw std::runtime_error(std::string("expected ") + transport::event_name(type));
  }
  return event;
}

void make_queue_pair(cm::Id& id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.sq_sig_all = 1;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  id.create_qp(nullptr, &attr).value();
}

/// Private data with its final zero; `text` outlives the parameters.
rdma_conn_param parameters(std::string_view text) {
  rdma_conn_param param{};
  param.private_data = text.data();
  param.private_data_len = static_cast<std::uint8_t>(text.size() + 1);
  param.retry_count = 7;
  return param;
}

sockaddr_storage address_of(Side& side) {
  const auto addresses = transport::own_addresses(side.host->transport()).value();
  if (addresses.empty()) throw std::runtime_error("the RDMA device has no IP address");
  return addresses.front();
}

const sockaddr* plain(const sockaddr_storage& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

std::unique_ptr<cm::Id> listen(Side& server, sockaddr_storage& address) {
  auto listener = cm::Id::create(*server.channel, RDMA_PS_TCP, nullptr).value();
  listener->bind(plain(address)).value();  // port 0: any that is free
  listener->listen(1).value();
  reinterpret_cast<sockaddr_in&>(address).sin_port = listener->src_port();  // of IPv6, too
  return listener;
}

void connect(Side& client, Side& server, const sockaddr_storage& address) {
  client.id = cm::Id::create(*client.channel, RDMA_PS_TCP, nullptr).value();
  client.id->resolve_addr(nullptr, plain(address), 2s).value();
  expect(client, RDMA_CM_EVENT_ADDR_RESOLVED);
  client.id->resolve_route(2s).value();
  expect(client, RDMA_CM_EVENT_ROUTE_RESOLVED);
  make_queue_pair(*client.id);
  const rdma_conn_param question = parameters("may I?");
  client.id->connect(&question).value();

  server.id = expect(server, RDMA_CM_EVENT_CONNECT_REQUEST).take_request();
  make_queue_pair(*server.id);
  const rdma_conn_param answer = parameters("you may");
  server.id->accept(&answer).value();
  expect(client, RDMA_CM_EVENT_ESTABLISHED);
  expect(server, RDMA_CM_EVENT_ESTABLISHED);
}

/// Polls until the work is done.
void await(ibv_cq* cq) {
  ibv_wc completion{};
  int count = 0;
  while (count == 0) count = ibv_poll_cq(cq, 1, &completion);
  if (count < 0 || completion.status != IBV_WC_SUCCESS) {
    throw std::runtime_error("work completed with status " + std::to_string(completion.status));
  }
}

/// From the client to the server.
void send_message(Side& client, Side& server) {
  std::array<char, 32> message{"the same words everywhere"};
  std::array<char, 32> inbox{};
  const auto from =
      verbs::MemoryRegion::create(client.id->qp()->pd, message.data(), message.size(), 0).value();
  const auto to = verbs::MemoryRegion::create(server.id->qp()->pd, inbox.data(), inbox.size(),
                                              IBV_ACCESS_LOCAL_WRITE)
                      .value();
  ibv_sge destination = to.piece(0, inbox.size());
  ibv_recv_wr receive{};
  receive.sg_list = &destination;
  receive.num_sge = 1;
  ibv_recv_wr* bad_receive = nullptr;
  if (ibv_post_recv(server.id->qp(), &receive, &bad_receive) != 0) throw std::bad_alloc();

  ibv_sge source = from.piece(0, message.size());
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.sg_list = &source;
  send.num_sge = 1;
  ibv_send_wr* bad_send = nullptr;
  if (ibv_post_send(client.id->qp(), &send, &bad_send) != 0) throw std::bad_alloc();
  await(client.id->raw()->send_cq);
  await(server.id->raw()->recv_cq);
  std::printf("server got \"%s\"\n", inbox.data());
}

void hang_up(Side& client, Side& server) {
  client.id->disconnect().value();
  expect(server, RDMA_CM_EVENT_DISCONNECTED);
  server.id->disconnect().value();
  expect(client, RDMA_CM_EVENT_DISCONNECTED);
  for (Side* side : {&client, &server}) {
    side->id->destroy_qp().value();
    side->id.reset();
  }
}

/// Each transport takes what concerns it: over UDP, two hosts on one machine need an address each.
transport::OpenOptions options_with(const char* address) {
  transport::OpenOptions options;
  options.udp.addresses = {address};
  return options;
}

void converse(const std::string& transport) {
  Side server("server", transport, options_with("127.0.0.2"));
  Side client("client", transport, options_with("127.0.0.3"));
  std::printf("over %s\n", server.host->name());
  sockaddr_storage address = address_of(server);
  const auto listener = listen(server, address);
  connect(client, server, address);
  send_message(client, server);
  hang_up(client, server);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Two hosts talk over the transport of your choice.");
  std::string transport = "sim";
  app.add_option("--transport", transport, "sim (default), fabric, udp, ucma, rxe or auto");
  CLI11_PARSE(app, argc, argv);
  try {
    converse(transport);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
