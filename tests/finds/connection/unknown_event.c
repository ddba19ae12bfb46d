// disni issue 41: a blocking connect never returns on an event that it does not know.
// kind: event that a blocking connect does not know
// source: https://github.com/zrlio/disni/issues/41
// needs: faults
// buggy: its loop waits for the event of the next step, and goes on waiting at any other.
// fixed: any other event ends the connect. The library beneath gives each step an event; so the
//   loop has no timeout of its own.
#include <arpa/inet.h>
#include <string.h>

#include "tests/finds/cm.h"

static bool fixed;

static bool step(struct rdma_event_channel* channel, int wanted) {
  for (;;) {
    const int type = next_type(channel, -1);
    if (type == wanted) return true;
    if (type == RDMA_CM_EVENT_ADDR_CHANGE) continue;
    if (fixed) return false;
  }
}

static bool blocking_connect(struct rdma_event_channel* channel, struct lane* lane,
                             const char* host) {
  struct rdma_cm_id* id;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  inet_pton(AF_INET, host, &to.sin_addr);
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  NEED(rdma_resolve_addr(id, NULL, (struct sockaddr*)&to, 2000));
  if (!step(channel, RDMA_CM_EVENT_ADDR_RESOLVED)) return false;
  NEED(rdma_resolve_route(id, 2000));
  if (!step(channel, RDMA_CM_EVENT_ROUTE_RESOLVED)) return false;
  if (!lane_open(lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  return step(channel, RDMA_CM_EVENT_ESTABLISHED);
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane = {0};
  if (!blocking_connect(channel, &lane, host)) give_up("not connected");
  NEED(post_send(&lane, 0));
  good_wc(&lane);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, 1);
  good_wc(&lane);
  await_end(channel);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
