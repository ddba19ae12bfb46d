// rdma-core pull request 28, SPDK issue 1184: the device is removed, at whatever step. A server
// ends once all its sessions have ended.
// kind: removal at any step
// source: https://github.com/linux-rdma/rdma-core/pull/28,
//   https://github.com/spdk/spdk/issues/1184
// needs: faults
// buggy: a session ends with DISCONNECTED, and DEVICE_REMOVAL is an event that it does not know.
// fixed: DEVICE_REMOVAL ends a session as well, and the listener.
#include <string.h>

#include "tests/finds/cm.h"

enum { kSessions = 2, kMessages = 4 };
static bool fixed;

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  struct rdma_cm_id* listener = listen_at(channel, kPort, 4);
  struct lane lanes[kSessions] = {0};
  int opened = 0, closed = 0;
  while (closed < kSessions) {
    // Who has sessions knows that they end; who has none waits for a client as long as it is
    // patient.
    struct rdma_cm_event* event = next_event(channel, opened > closed && !fixed ? -1 : kPatience);
    if (!event) give_up("no event");
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    struct rdma_conn_param p = params(7, 7, NULL, 0);
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST && opened < kSessions) {
      struct lane* lane = &lanes[opened];
      if (!lane_open(lane, id)) give_up("a queue pair");
      for (int i = 0; i < kMessages; ++i) NEED(post_recv(lane, i));
      NEED(rdma_accept(id, &p));
      ++opened;
      continue;
    }
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL && fixed && id == listener)
      give_up("the device is gone");
    const bool ends = type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED ||
                      type == RDMA_CM_EVENT_UNREACHABLE || type == RDMA_CM_EVENT_CONNECT_ERROR ||
                      (type == RDMA_CM_EVENT_DEVICE_REMOVAL && fixed);
    for (int i = 0; ends && i < kSessions; ++i) {
      if (lanes[i].id != id) continue;
      rdma_disconnect(id);
      lane_close(&lanes[i]);
      ++closed;
    }
  }
  return 0;
}

static int talk(const char* host) {
  for (int i = 0; i < kSessions; ++i) {
    struct lane lane;
    dial(&lane, open_channel(), host, kPort, NULL, 0);
    for (int n = 0; n < kMessages; ++n) {
      NEED(post_send(&lane, n));
      good_wc(&lane);
      sleep_us(100);
    }
    rdma_disconnect(lane.id);
    lane_close(&lane);
  }
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
