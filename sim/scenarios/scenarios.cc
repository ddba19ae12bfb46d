#include "sim/scenarios/scenarios.h"

#include <algorithm>
#include <array>
#include <string>

namespace anyrdma::sim::scenarios {
namespace {

/// Of connections between "client" and "server".
constexpr std::string_view kConnectionMenu =
    "on client->server packet 20%: lose\n"
    "on server->client packet 20%: lose\n"
    "on *->* packet 10%: duplicate\n"
    "on *->* packet 10%: delay 20us\n"
    "on *->* packet 5%: delay 5ms\n"
    "on *->* packet 5%: corrupt\n"
    "on client->server REQ 1: lose\n"
    "on server->client REP 1: lose\n"
    "on client->server RTU 1: lose\n"
    "on client->server DREQ all: lose\n"
    "on server->client DREP all: lose\n"
    "on server request 1: reject 28\n"
    "on server request 1: overflow\n"
    "on server request 2: stale\n"
    "at 6us: cut client<->server\n"
    "at 30us: cut client->server\n"
    "at 50us: port-down server anyrdma0\n"
    "at 5ms: port-up server anyrdma0\n"
    "on client call connect 1: fail-over server eth0\n"
    "at 40us: fail-over client eth0\n"
    "at 60us: fail-back client eth0\n"
    "at 70us: fail-back server eth0\n"
    "at 80us: confirm-neighbour client 10.0.0.2\n"
    "at 50us: forget-neighbour client 10.0.0.2\n"
    "at 25us: cut-rail server eth0\n"
    "at 1s: mend-rail server eth0\n"
    "on client routing 1: unrouted ETIMEDOUT\n"
    "on server request 1: mra 22\n"
    "on client->server REQ 1: alter responder_resources 0\n"
    "on client->server REQ 1: alter path_mtu 7\n"
    "on server->client REP 1: alter remote_comm_id 1\n"
    "on client->server DREQ 1: alter remote_qpn 1\n"
    "on server queued CONNECT_REQUEST 1: remove server anyrdma0\n"
    "on server fetched ESTABLISHED 1: remove server anyrdma0\n"
    "on client fetched ESTABLISHED 1: remove client anyrdma0\n"
    "at 100us: remove client anyrdma0\n"
    "at 100us: remove server anyrdma0\n"
    "at 1ms: return client anyrdma0\n"
    "at 1ms: return server anyrdma0 new-guid\n"
    "at 20us: slow client<->server 700ms\n"
    "at 1s: mend client<->server\n"
    "at 45us: crash server\n"
    "at 45us: crash client\n"
    "at 40us: device-event server anyrdma0 CLIENT_REREGISTER\n"
    "at 40us: device-event client anyrdma0 DEVICE_FATAL\n"
    "at 2s: restart server\n"
    "at 2s: restart client\n"
    "at 20us: pause server\n"
    "at 20us: pause client\n"
    "at 5s: resume server\n"
    "at 5s: resume client\n"
    "on client call create_qp 1: fail ENOMEM\n"
    "on server call create_qp 1: fail ENOMEM\n"
    "on server call reg_mr 1: fail ENOMEM\n"
    "on client call connect 1: fail ENOMEM\n"
    "on server call accept 1: fail ENOMEM\n"
    "on client call post_send 2: fail ENOMEM\n"
    "on client completion SEND 2: complete RETRY_EXC_ERR\n"
    "on server completion RECV 2: complete LOC_PROT_ERR\n"
    "at 40us: qp-error server#qp1 QP_FATAL\n"
    "at 40us: cq-overrun client#cq1\n"
    "at 0s: slow-consumer client 5ms\n"
    "at 0s: slow-consumer server 3s\n";

/// Of the hosts, for whoever sends datagrams.
constexpr std::string_view kGroupMenu =
    "at 6us: cut client<->server\n"
    "at 2ms: port-down server anyrdma0\n"
    "at 6ms: port-up server anyrdma0\n"
    "at 5us: remove client anyrdma0\n"
    "at 8us: remove server anyrdma0\n"
    "at 3ms: remove client anyrdma0\n"
    "at 3ms: remove server anyrdma0\n"
    "at 7ms: return server anyrdma0\n"
    "at 10us: fail-over server eth0\n"
    "at 12us: fail-back server eth0\n"
    "at 4us: cut-rail server eth0\n"
    "at 1s: mend-rail server eth0\n"
    "at 20us: slow client<->server 700ms\n"
    "at 1s: mend client<->server\n"
    "at 4us: crash server\n"
    "at 120ms: crash client\n"
    "at 2s: restart server\n"
    "at 4us: pause server\n"
    "at 5s: resume server\n"
    "on client call create_qp 1: fail ENOMEM\n"
    "on server call create_qp 1: fail ENOMEM\n"
    "on server call create_ah 1: fail ENOMEM\n"
    "on client completion SEND 2: complete LOC_PROT_ERR\n"
    "at 2ms: qp-error server#qp1 QP_FATAL\n"
    "at 3ms: kill client\n"
    "at 3ms: lose-group server 239.1.2.3\n"
    "at 0s: slow-consumer server 2ms\n";

/// Of a datagram service: what becomes of packets, too.
const std::string kDatagramMenu = std::string(kGroupMenu) +
                                  "on client->server packet 20%: lose\n"
                                  "on *->* packet 20%: duplicate\n"
                                  "on *->* packet 20%: delay 5ms\n"
                                  "on *->* packet 10%: corrupt\n"
                                  "on client->server SIDR_REQ 1: lose\n"
                                  "on server->client SIDR_REP 1: lose\n";

constexpr std::string_view kRemovals =
    "at 0s: remove client anyrdma0\n"
    "at 0s: remove server anyrdma0\n";

const std::array kStandard{
    Standard{"connect",
             "a client talks to a server: connect, messages there and back, disconnect",
             kConnectionMenu,
             kRemovals,
             {{"connections", 1}, {"messages", 4}},
             connect},
    Standard{"clients",
             "eight connections to one server at once",
             kConnectionMenu,
             kRemovals,
             {{"connections", 8}, {"messages", 4}},
             clients},
    Standard{"late",
             "a server listens late and refuses the first who comes",
             kConnectionMenu,
             kRemovals,
             {{"messages", 1, 1}, {"refusals", 1, 0}},
             late},
    Standard{"reconnect",
             "a client connects again until all messages are through",
             kConnectionMenu,
             kRemovals,
             {{"messages", 8}},
             reconnect},
    Standard{"datagram",
             "a client asks a datagram service where it is (SIDR) and sends to it",
             kDatagramMenu,
             kRemovals,
             {{"messages", 4}},
             datagram},
    Standard{"multicast",
             "three hosts join a group, one sends, all leave",
             kGroupMenu,
             kRemovals,
             {{"messages", 4}},
             multicast},
};

}  // namespace

std::span<const Standard> standard() {
  return kStandard;
}

const Standard* find(std::string_view name) {
  const auto found = std::find_if(kStandard.begin(), kStandard.end(),
                                  [&](const Standard& each) { return each.name == name; });
  return found == kStandard.end() ? nullptr : found;
}

}  // namespace anyrdma::sim::scenarios
