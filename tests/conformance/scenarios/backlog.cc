// How many requests may wait to be fetched.
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

SCENARIO(backlog, full_is_silence_until_one_is_fetched, .facts = {14}) {
  server.listening(kServer, 1);
  Id& first = client.connecting();
  server.await();
  Id& second = client.connecting();
  client.quiet(1s);
  Id& passive = server.take_request();
  passive.make_qp();
  passive.accept(kNoParam);
  client.take(first);
  server.take(passive);
  Id& late = server.take_request({.at_least = 1s, .at_most = 40s});
  late.make_qp();
  late.accept(kNoParam);
  client.take(second);
}

SCENARIO(backlog, room_is_made_by_fetching_not_by_accepting, .facts = {14}) {
  server.listening(kServer, 1);
  client.connecting();
  server.take_request();
  client.connecting();
  server.take_request();
}

SCENARIO(backlog, of_zero_is_a_large_one, .facts = {15}) {
  server.listening(kServer, 0);
  client.connecting();
  server.await();
  client.connecting();
  stage.settle();
  server.take_request();
  server.take_request();
}

SCENARIO(backlog, a_full_one_refuses_datagram_services) {
  server.listening(kServer, 1, RDMA_PS_UDP);
  client.connecting(kServer, {}, RDMA_PS_UDP);
  server.await();
  Id& second = client.connecting(kServer, {}, RDMA_PS_UDP);
  client.take(second);
}

}  // namespace anyrdma::conformance
