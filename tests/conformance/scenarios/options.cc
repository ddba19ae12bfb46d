// rdma_set_option.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

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

}  // namespace anyrdma::conformance
