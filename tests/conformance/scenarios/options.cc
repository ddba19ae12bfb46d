// rdma_set_option.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

/// Those that an id may be too old for.
void set_all(Id& id) {
  id.set_option(RDMA_OPTION_ID_TOS, 0x20);
  id.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 14);
  id.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  id.set_option(RDMA_OPTION_ID_REUSEADDR, 0);
  id.set_option(RDMA_OPTION_ID_AFONLY, 1);
}

/// A path between the addresses that it has, if it has any, as the option takes it.
void bring_a_path(Id& id) {
  constexpr std::uint8_t kExactly = 2 << 6;
  id.call("set_option(IB_PATH)", [](const auto& cm, auto* raw) {
    const rdma_ib_addr& ends = raw->route.addr.addr.ibaddr;
    ibv_path_data path{};
    path.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
    path.path.dgid = ends.dgid;
    path.path.sgid = ends.sgid;
    path.path.mtu = kExactly | IBV_MTU_512;
    path.path.rate = kExactly | IBV_RATE_10_GBPS;
    path.path.packetlifetime = kExactly | 16;
    return cm.set_option(raw, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof path);
  });
}

}  // namespace

SCENARIO(options, type_of_service) {
  Id& id = client.create();
  id.set_option(RDMA_OPTION_ID_TOS, 0x20);
  id.set_option(RDMA_OPTION_ID_TOS, 0x20, 4);
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.set_option(RDMA_OPTION_ID_TOS, 0x40);
}

SCENARIO(options, acknowledgement_timeout) {
  Id& id = client.create();
  id.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 14);
  id.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 14, 4);
  client.create(RDMA_PS_UDP).set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 14);
}

SCENARIO(options, family_only) {
  Id& id = server.create();
  id.set_option(RDMA_OPTION_ID_AFONLY, 1);
  id.set_option(RDMA_OPTION_ID_AFONLY, 1, 1);
  id.bind(kAny6);
  id.set_option(RDMA_OPTION_ID_AFONLY, 0);
  id.listen();
  id.set_option(RDMA_OPTION_ID_AFONLY, 1);
}

SCENARIO(options, sharing_may_be_set_late, .facts = {40}) {
  Id& id = client.create();
  id.set_option(RDMA_OPTION_ID_REUSEADDR, 1, 1);
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  id.set_option(RDMA_OPTION_ID_REUSEADDR, 0);
}

SCENARIO(options, unknown_ones) {
  Id& id = client.create();
  id.set_option(77, 1);
  id.set_option_of(5, 0, 1);
  id.set_option_of(RDMA_OPTION_IB, 7, 1);
}

SCENARIO(options, a_path_of_the_wrong_size, .facts = {50}) {
  Id& id = client.create();
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  id.set_option_of(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 3);
  id.resolve_route();
  client.take();
}

SCENARIO(options, of_a_listener) {
  Id& id = server.listening();
  id.set_option(RDMA_OPTION_ID_TOS, 0x20);
  id.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 14);
}

SCENARIO(options, of_a_connected_id, .facts = {40}) {
  const Connection pair = stage.connect();
  set_all(pair.active);
  set_all(pair.passive);
}

SCENARIO(options, of_a_disconnected_id) {
  const Connection pair = stage.connect();
  pair.active.disconnect();
  server.take();
  pair.passive.disconnect();
  client.take();
  set_all(pair.active);
  set_all(pair.passive);
}

SCENARIO(options, of_an_id_that_resolves) {
  Id& id = client.create();
  id.resolve_addr(kNobody, 1500ms);
  id.set_option(RDMA_OPTION_ID_TOS, 0x20);
  id.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 14);
  client.take();
}

SCENARIO(options, sharing_may_be_taken_back_early, .facts = {40}) {
  Id& first = server.create();
  first.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  first.set_option(RDMA_OPTION_ID_REUSEADDR, 0);
  first.bind(kServer);
  Id& second = server.create();
  second.set_option(RDMA_OPTION_ID_REUSEADDR, 1);
  second.bind(kServer);
}

// rdma_set_ack_timeout: by the type of queue pair.
SCENARIO(options, acknowledgement_timeout_by_type) {
  int port = 0;
  for (const ibv_qp_type type :
       {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV}) {
    Id& id = server.create_endpoint(with_port(kServer, port++), RDMA_PS_IB, type, true);
    id.set_option(RDMA_OPTION_ID_ACK_TIMEOUT, 14);
  }
}

// ucma_set_ib_path: nothing needs to be resolved any more, and nothing but the event follows.
SCENARIO(options, a_path_of_ones_own, .facts = {50}) {
  Id& id = client.create();
  bring_a_path(id);
  id.resolve_addr(kServer, 2s, any_port(kClient));
  client.take();
  bring_a_path(id);
  client.take();
  id.note_path();
  bring_a_path(id);
  id.resolve_route();
}

}  // namespace anyrdma::conformance
