#include "sim/scenarios/scenarios.h"

#include <algorithm>
#include <array>

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
    "on server request 2: reject 10\n"
    "at 6us: cut client<->server\n"
    "at 30us: cut client->server\n"
    "at 50us: port-down server anyrdma0\n"
    "at 5ms: port-up server anyrdma0\n"
    "on client call connect 1: fail-over server eth0\n"
    "at 40us: fail-over client eth0\n"
    "on server queued CONNECT_REQUEST 1: remove server anyrdma0\n"
    "on server fetched ESTABLISHED 1: remove server anyrdma0\n"
    "on client fetched ESTABLISHED 1: remove client anyrdma0\n"
    "at 100us: remove client anyrdma0\n"
    "at 100us: remove server anyrdma0\n"
    "at 1ms: return client anyrdma0\n"
    "at 1ms: return server anyrdma0 new-guid\n"
    "at 20us: slow client<->server 700ms\n"
    "at 1s: mend client<->server\n";

constexpr std::string_view kDatagramMenu =
    "on client->server packet 20%: lose\n"
    "on *->* packet 20%: duplicate\n"
    "on *->* packet 20%: delay 5ms\n"
    "on *->* packet 10%: corrupt\n"
    "at 6us: cut client<->server\n"
    "at 2ms: port-down server anyrdma0\n"
    "at 6ms: port-up server anyrdma0\n"
    "at 5us: remove client anyrdma0\n"
    "at 8us: remove server anyrdma0\n"
    "at 3ms: remove client anyrdma0\n"
    "at 3ms: remove server anyrdma0\n"
    "at 7ms: return server anyrdma0\n"
    "at 10us: fail-over server eth0\n"
    "at 20us: slow client<->server 700ms\n"
    "at 1s: mend client<->server\n";

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
             kDatagramMenu,
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
