// nbs issue 6940: requests of clients that have given up wait in a slow server's queue. A server
// of one place takes a request, prepares for a millisecond, and accepts; clients are impatient.
// kind: accept after the client has gone
// source: https://github.com/ydb-platform/nbs/issues/6940
// needs: order, faults
// buggy: takes what rdma_accept returns for a connection that comes about, and waits for
//   ESTABLISHED or DISCONNECTED of it before it serves the next one.
// fixed: a failed accept frees the place, and so does every event that ends a connection that
//   never was. The last client is patient, and must be served.
#include <stdlib.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kClients = 3, kTries = 20 };
static bool fixed;

static void serve_one(struct rdma_event_channel* channel, struct rdma_cm_id* id) {
  struct lane lane;
  sleep_us(1000);
  if (!lane_open(&lane, id)) {
    if (lane.pd) give_up("a queue pair");
    lane_close(&lane);
    return;
  }
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  const bool accepted = rdma_accept(id, &p) == 0;
  const int64_t until = now_us() + 1000000;
  bool over = fixed && !accepted;
  while (!over) {
    const int64_t left = until - now_us();
    struct rdma_cm_event* event = next_event(channel, !fixed     ? -1
                                                      : left > 0 ? (int)(left / 1000)
                                                                 : 0);
    if (!event) break;
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* of = event->id;
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) rdma_reject(of, NULL, 0);
    rdma_ack_cm_event(event);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
    if (of != id) {
      if (type == RDMA_CM_EVENT_CONNECT_REQUEST) rdma_destroy_id(of);
      continue;
    }
    over = type == RDMA_CM_EVENT_DISCONNECTED ||
           (fixed && (type == RDMA_CM_EVENT_REJECTED || type == RDMA_CM_EVENT_UNREACHABLE ||
                      type == RDMA_CM_EVENT_CONNECT_ERROR));
  }
  rdma_disconnect(id);
  lane_close(&lane);
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 8);
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, -1);
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) serve_one(channel, id);
  }
}

// 1: served. 0: refused by the server. -1: something else.
static int attempt(struct rdma_event_channel* channel, const char* host, int ms) {
  struct lane lane;
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(&lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  struct rdma_cm_event* event = next_event(channel, ms);
  int outcome = -1;
  if (event) {
    if (event->event == RDMA_CM_EVENT_REJECTED && event->status == 28) outcome = 0;
    if (event->event == RDMA_CM_EVENT_ESTABLISHED) outcome = 1;
    rdma_ack_cm_event(event);
  }
  if (outcome == 1) rdma_disconnect(id);
  lane_close(&lane);
  return outcome;
}

// Two clients that go away when nothing has come in 2 ms, and one that tries for four seconds.
static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  for (int i = 0; i + 1 < kClients; ++i) attempt(channel, host, 2);
  int refused = 0;
  for (int i = 0; i < kTries; ++i) {
    const int outcome = attempt(channel, host, kPatience);
    if (outcome == 1) return 0;
    if (outcome == -1) give_up("no server");
    ++refused;
    sleep_us(200000);
  }
  CHECK(refused < kTries);  // the server is there, and serves nobody
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
