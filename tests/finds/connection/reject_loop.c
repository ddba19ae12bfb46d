// A refusal is answered by the next request at once, without a pause and with a fixed number of
// attempts. A server of one place refuses while it is taken, some 200 us at a time.
// kind: reject loop without a pause
// source: https://github.com/ofiwg/libfabric/issues/10359
// needs: order, faults
// buggy: tries five times in a row: a few microseconds, and the place is still taken.
// fixed: waits between its attempts, twice as long each time. Every client has to be served, for
//   the server is there and the place gets free.
#include <stdlib.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kAttempts = 5, kFixedAttempts = 9, kHold = 200 };
static bool fixed;

// 1: served, 0: refused.
static int attempt(struct rdma_event_channel* channel, const char* host) {
  struct lane lane;
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(&lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  struct rdma_cm_event* event = next_event(channel, kPatience);
  if (!event) give_up("no event");
  const enum rdma_cm_event_type type = event->event;
  const int status = event->status;
  rdma_ack_cm_event(event);
  if (type == RDMA_CM_EVENT_ESTABLISHED) {
    sleep_us(kHold);
    rdma_disconnect(id);
  } else if (type != RDMA_CM_EVENT_REJECTED || status != 28) {
    give_up("neither established nor refused by the server");
  }
  lane_close(&lane);
  return type == RDMA_CM_EVENT_ESTABLISHED;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  int64_t delay = 1000;
  for (int i = 0; i < (fixed ? kFixedAttempts : kAttempts); ++i, delay *= 2) {
    if (attempt(channel, host)) return 0;
    if (fixed) sleep_us(delay);
  }
  if (fixed) give_up("the place is taken for half a second");
  broken("the server is there, and the client has given up");
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 8);
  struct lane lane = {0};
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, -1);
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    struct rdma_conn_param p = params(7, 7, NULL, 0);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST && lane.id) {
      rdma_reject(id, NULL, 0);
      rdma_destroy_id(id);
    } else if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      if (!lane_open(&lane, id)) give_up("a queue pair");
      if (rdma_accept(id, &p) != 0) lane_close(&lane);
    } else if (id == lane.id &&
               (type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED ||
                type == RDMA_CM_EVENT_CONNECT_ERROR)) {
      rdma_disconnect(id);
      lane_close(&lane);
    }
  }
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
