// perftest issue 93, SPDK issue 1165: an id connects once, whatever comes of it. After a refusal
// (a server that does not listen yet, a stale connection, a full server) a new id is needed.
// kind: stale connection and retry with the same id
// source: https://github.com/linux-rdma/perftest/issues/93,
//   https://github.com/spdk/spdk/issues/1165
// needs: faults
// buggy: calls rdma_connect again on the id that was refused, gets EINVAL each time, and takes
//   that for the server's absence.
// fixed: makes a new id for each attempt. The server is there all the time, so one of six attempts
//   in 300 ms has to succeed.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kAttempts = 6 };
static bool fixed;

static void prepare(struct lane* lane, struct rdma_event_channel* channel, const char* host) {
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(lane, id)) give_up("a queue pair");
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  int refused = 0;
  prepare(&lane, channel, host);
  for (int i = 0; i < kAttempts; ++i) {
    struct rdma_conn_param p = params(7, 7, NULL, 0);
    if (rdma_connect(lane.id, &p) == 0) {
      const int type = next_type(channel, kPatience);
      if (type == RDMA_CM_EVENT_ESTABLISHED) {
        rdma_disconnect(lane.id);
        lane_close(&lane);
        return 0;
      }
      if (type != RDMA_CM_EVENT_REJECTED) give_up("neither established nor refused");
      ++refused;
    } else if (errno != EINVAL) {
      give_up("rdma_connect");
    }
    sleep_us(50000);
    if (!fixed) continue;
    lane_close(&lane);
    prepare(&lane, channel, host);
  }
  fprintf(stderr, "%d of %d attempts were refused\n", refused, kAttempts);
  if (refused == kAttempts) give_up("the server refuses everything");
  broken("the server is there, and no connection");
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct lane lane;
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(&lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
  next_type(channel, kPatience);
  rdma_disconnect(id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
