// A thread ends on an error path with a lock in its hands.
// kind: thread exit with a lock
// source: https://github.com/linux-rdma/rdma-core/pull/28 (rping's thread ends and its main
//   program waits)
// needs: faults, order
// buggy: the worker returns when its reply cannot be posted, or was flushed, and keeps the table's
//   lock.
// fixed: gives it back on every way out.
#include <pthread.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kMessages = 6 };
static struct lane lane;
static bool fixed;
static int replies;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* unused) {
  struct ibv_wc wc;
  while (next_wc(&lane, &wc, 1000)) {
    pthread_mutex_lock(&table);
    const bool received = wc.wr_id < 100;
    if (received && wc.status != IBV_WC_SUCCESS) {  // the session has ended
      pthread_mutex_unlock(&table);
      return unused;
    }
    if (!received ? wc.status != IBV_WC_SUCCESS : post_send(&lane, 16 + (int)wc.wr_id) != 0) {
      if (fixed) pthread_mutex_unlock(&table);
      return unused;
    }
    replies += received;
    pthread_mutex_unlock(&table);
  }
  return unused;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, kMessages);
  pthread_t worker;
  NEED(pthread_create(&worker, NULL, work, NULL));
  await_end(channel);
  rdma_disconnect(lane.id);
  pthread_mutex_lock(&table);
  const int n = replies;
  pthread_mutex_unlock(&table);
  pthread_join(worker, NULL);
  lane_close(&lane);
  return n > kMessages ? kBroken : 0;
}

// In a hurry: it does not wait for the last replies.
static int talk(const char* host) {
  dial(&lane, open_channel(), host, kPort, NULL, 0);
  for (int i = 0; i < kMessages; ++i) NEED(post_recv(&lane, 16 + i));
  for (int i = 0; i < kMessages; ++i) NEED(post_send(&lane, i));
  for (int n = 0; n < 2 * kMessages; ++n) {
    const struct ibv_wc wc = good_wc(&lane);
    if (wc.wr_id == 100 + kMessages - 1) break;  // the last of its own
  }
  sleep_us(3);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
