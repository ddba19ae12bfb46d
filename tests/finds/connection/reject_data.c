// UCX pull requests 7788 and 5460: a refusal by the network looks like one by the user. A server
// that is busy refuses with private data: come again after so many milliseconds. Only a consumer's
// reject (status 28) carries data of the server's; the connection manager refuses, too, and then
// the bytes mean nothing.
// kind: private data assumed
// source: https://github.com/openucx/ucx/pull/7788, https://github.com/openucx/ucx/pull/5460
// needs: faults
// buggy: reads the delay from every REJECTED, and divides its time by it.
// fixed: looks at the status first, and has a delay of its own.
#include <stdint.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kConsumerReject = 28, kDefaultDelay = 20, kBudget = 400 };
static bool fixed;

// How long to wait before the next attempt, in milliseconds.
static uint32_t delay_of(const struct rdma_cm_event* event) {
  uint32_t delay = kDefaultDelay;
  const struct rdma_conn_param* p = &event->param.conn;
  if (fixed && (event->status != kConsumerReject || p->private_data_len < sizeof delay))
    return delay;
  memcpy(&delay, p->private_data, sizeof delay);
  return fixed && delay == 0 ? kDefaultDelay : delay;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  int attempts = 1;
  for (int i = 0; i < attempts; ++i) {
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
    uint32_t delay = 0;
    if (type == RDMA_CM_EVENT_REJECTED) {
      delay = delay_of(event);
      attempts = (int)(kBudget / delay);  // as many as there is time for
    }
    rdma_ack_cm_event(event);
    if (type == RDMA_CM_EVENT_ESTABLISHED) rdma_disconnect(id);
    lane_close(&lane);
    if (type == RDMA_CM_EVENT_ESTABLISHED) return 0;
    if (type != RDMA_CM_EVENT_REJECTED) give_up("neither established nor refused");
    sleep_us((int64_t)delay * 1000);
  }
  give_up("refused to the end");
}

// Busy for the first one.
static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  const uint32_t delay = 25;
  rdma_reject(id, &delay, sizeof delay);
  rdma_destroy_id(id);
  struct lane lane;
  id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
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
