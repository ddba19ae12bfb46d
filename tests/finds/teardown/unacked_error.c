// perftest pull request 60: an event that is not the expected one is not acknowledged, and
// rdma_destroy_id waits for that acknowledgement for ever.
// kind: event not acknowledged on an error path
// source: https://github.com/linux-rdma/perftest/pull/60
// needs: faults
// buggy: connects anew after an error without having acknowledged the event that told of it.
// fixed: acknowledges every event.
#include <stdio.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kAttempts = 3 };
static bool fixed;

// True: that event has come. An error's event is kept for the message, and that is all that is done
// with it.
static bool wait_for(struct rdma_event_channel* channel, enum rdma_cm_event_type wanted) {
  struct rdma_cm_event* event = next_event(channel, kPatience);
  if (!event) give_up("no event");
  const bool right = event->event == wanted;
  if (!right) fprintf(stderr, "%s %d\n", rdma_event_str(event->event), event->status);
  if (right || fixed) rdma_ack_cm_event(event);
  return right;
}

static bool attempt(struct rdma_event_channel* channel, const char* host) {
  struct lane lane;
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(&lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  const bool there = wait_for(channel, RDMA_CM_EVENT_ESTABLISHED);
  if (there) rdma_disconnect(id);
  lane_close(&lane);
  return there;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  for (int i = 0; i < kAttempts; ++i) {
    if (attempt(channel, host)) return 0;
    sleep_us(10000);
  }
  give_up("no attempt succeeds");
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct lane lane = {0};
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, kPatience);
    if (!event) return 0;
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    struct rdma_conn_param p = params(7, 7, NULL, 0);
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      if (lane.id) lane_close(&lane);
      if (!lane_open(&lane, id)) give_up("a queue pair");
      if (rdma_accept(id, &p) != 0) lane_close(&lane);
    }
    if (type == RDMA_CM_EVENT_DISCONNECTED) rdma_disconnect(id);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
  }
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
