// Both sides hang up at the same time, and so do two threads of one side. A client's worker ends
// the session when its work is done; its event thread ends it at DISCONNECTED. Either counts the
// session as closed.
// kind: double disconnect
// source: https://github.com/openucx/ucx/pull/4719 is of this kind
// needs: points
// buggy: both look whether it is open and close it after that; the second one closes it again.
// fixed: whoever takes the word from open to closing, at once, closes it.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kMessages = 3, kOpen = 1, kClosing = 2 };
static struct lane lane;
static bool fixed;
static atomic_int state = kOpen, closed;

static void end_session(void) {
  if (fixed) {
    int open = kOpen;
    if (!atomic_compare_exchange_strong(&state, &open, kClosing)) return;
    rdma_disconnect(lane.id);
  } else {
    if (state != kOpen) return;
    rdma_disconnect(lane.id);
    state = kClosing;
  }
  ++closed;
}

static void* work(void* unused) {
  struct ibv_wc wc;
  for (int i = 0; i < kMessages; ++i) {
    if (post_send(&lane, i) != 0 || !next_wc(&lane, &wc, kPatience)) break;
    if (wc.status != IBV_WC_SUCCESS) break;
  }
  end_session();
  return unused;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  dial(&lane, channel, host, kPort, NULL, 0);
  pthread_t worker;
  NEED(pthread_create(&worker, NULL, work, NULL));
  int type;
  do type = next_type(channel, kPatience);
  while (type == RDMA_CM_EVENT_ADDR_CHANGE || type == RDMA_CM_EVENT_UNREACHABLE);
  end_session();
  pthread_join(worker, NULL);
  CHECK(closed == 1);
  lane_close(&lane);
  return 0;
}

// Hangs up by itself once it has everything.
static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(&lane, id)) give_up("a queue pair");
  for (int i = 0; i < kMessages; ++i) NEED(post_recv(&lane, i));
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  for (int i = 0; i < kMessages; ++i) good_wc(&lane);
  rdma_disconnect(id);
  for (int type = 0; type != -1 && type != RDMA_CM_EVENT_DISCONNECTED;)
    type = next_type(channel, kPatience);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
