// A receive queue counts as drained when as many completions were flushed as receives are posted
// as a rule.
// kind: receive queue drained by count
// source: https://github.com/spdk/spdk/pull/3859
// needs: points
// buggy: waits for eight flushed receives. A message that comes while the session is closing takes
//   one of them, which is not posted again.
// fixed: counts the receives that are outstanding, whatever their completion says.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kDepth = 8, kMessages = 5 };
static struct lane lane;
static bool fixed;
static atomic_bool closing;
static atomic_int outstanding, flushed;

// Ends once the queue is drained.
static void* poll_all(void* unused) {
  struct ibv_wc wc;
  while (fixed ? outstanding > 0 : flushed < kDepth) {
    next_wc(&lane, &wc, -1);
    if (wc.wr_id >= 100) continue;
    --outstanding;
    if (wc.status != IBV_WC_SUCCESS)
      ++flushed;
    else if (!closing && post_recv(&lane, (int)wc.wr_id) == 0)
      ++outstanding;
  }
  return unused;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, kDepth);
  outstanding = kDepth;
  pthread_t poller;
  NEED(pthread_create(&poller, NULL, poll_all, NULL));
  await_end(channel);
  closing = true;
  rdma_disconnect(lane.id);
  pthread_join(poller, NULL);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  dial(&lane, open_channel(), host, kPort, NULL, 0);
  for (int i = 0; i < kMessages; ++i) NEED(post_send(&lane, i));
  for (int i = 0; i < kMessages; ++i) good_wc(&lane);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
