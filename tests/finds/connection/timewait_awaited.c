// A client waits for TIMEWAIT_EXIT before it takes an id's resources back, as the queue pair may
// get late packets until then.
// kind: TIMEWAIT_EXIT awaited for ever
// source: https://github.com/spdk/spdk/issues/450 is of this kind
// needs: faults
// buggy: waits for it whatever has come of the connection. After a refusal there is nothing in
//   timewait, and no such event.
// fixed: waits only after a disconnection, and not for ever.
#include <string.h>

#include "tests/finds/cm.h"

enum { kAttempts = 4 };
static bool fixed;

static void quarantine(struct rdma_event_channel* channel, bool connected) {
  if (fixed && !connected) return;
  for (;;) {
    const int type = next_type(channel, fixed ? kPatience : -1);
    if (type == -1 || type == RDMA_CM_EVENT_TIMEWAIT_EXIT) return;
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
  }
}

static bool attempt(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(&lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  const int type = next_type(channel, kPatience);
  const bool there = type == RDMA_CM_EVENT_ESTABLISHED;
  if (!there && type != RDMA_CM_EVENT_REJECTED) give_up("neither established nor refused");
  if (there) {
    if (rdma_disconnect(id) != 0) give_up("rdma_disconnect");
    if (next_type(channel, kPatience) != RDMA_CM_EVENT_DISCONNECTED) give_up("no answer to a DREQ");
  }
  quarantine(channel, there);
  lane_close(&lane);
  rdma_destroy_event_channel(channel);
  return there;
}

static int talk(const char* host) {
  for (int i = 0; i < kAttempts; ++i) {
    if (attempt(host)) return 0;
    sleep_us(1000 << i);
  }
  give_up("refused to the end");
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, 0);
  await_end(channel);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
