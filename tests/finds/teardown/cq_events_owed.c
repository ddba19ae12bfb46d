// UCX issue 1039, rdma-core pull request 657: ibv_destroy_cq waits until every event of the queue
// has been acknowledged.
// kind: acknowledgements of completion events owed
// source: https://github.com/openucx/ucx/issues/1039,
//   https://github.com/linux-rdma/rdma-core/pull/657
// needs: points, faults
// buggy: acknowledges one event for each message, as it thinks that a message is an event; two
//   messages that come close together are one event, and a disconnection is one as well.
// fixed: counts the events that it takes, and acknowledges these.
#include <string.h>

#include "tests/finds/cm.h"

enum { kMessages = 4, kBatch = 16 };
static bool fixed;

// Takes messages until the peer hangs up. The number of events to acknowledge.
static unsigned take_all(struct lane* lane) {
  struct ibv_cq* cq;
  void* context;
  struct ibv_wc wc;
  unsigned events = 0, messages = 0;
  while (messages < kMessages) {
    NEED(ibv_req_notify_cq(lane->cq, 0));
    int n;
    while ((n = ibv_poll_cq(lane->cq, 1, &wc)) > 0) {
      if (wc.status != IBV_WC_SUCCESS) return fixed ? events : messages;
      ++messages;
    }
    if (n < 0) give_up("ibv_poll_cq");
    if (messages == kMessages) break;
    if (!readable(lane->comp->fd, kPatience)) give_up("no completion");
    while (ibv_get_cq_event(lane->comp, &cq, &context) == 0) ++events;
  }
  while (ibv_get_cq_event(lane->comp, &cq, &context) == 0) ++events;
  return fixed ? events : messages;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct lane lane;
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(&lane, id)) give_up("a queue pair");
  for (int i = 0; i < kBatch; ++i) NEED(post_recv(&lane, i));
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  const unsigned owed = take_all(&lane);
  rdma_disconnect(id);
  if (owed > 0) ibv_ack_cq_events(lane.cq, owed);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  dial(&lane, channel, host, kPort, NULL, 0);
  for (int i = 0; i < kMessages; ++i) {
    NEED(post_send(&lane, i));
    good_wc(&lane);
    sleep_us(50);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
