// A timeout fires as the answer comes, and both complete the request.
// kind: timeouts that fire at the same instant as the answer
// source: https://github.com/kvcache-ai/Mooncake/pull/3584; every client with timeouts of its own
// needs: order
// buggy: each of both threads looks whether the request is pending, and completes it after that.
// fixed: whoever takes it out of the table completes it. A completed request is a free one: a
//   second completion frees it again.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kRequests = 6, kTimeout = 2000, kWork = 1990 };
struct request {
  bool pending;
  atomic_int completions;
};
static struct request requests[kRequests];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lane lane;
static bool fixed;

static void complete(struct request* r) {
  pthread_mutex_lock(&lock);
  const bool mine = r->pending;
  if (fixed) r->pending = false;
  pthread_mutex_unlock(&lock);
  if (!mine) return;
  CHECK(++r->completions == 1);
  pthread_mutex_lock(&lock);
  r->pending = false;
  pthread_mutex_unlock(&lock);
}

static void* time_out(void* request) {
  sleep_us(kTimeout);
  complete(request);
  return NULL;
}

static int talk(const char* host) {
  dial(&lane, open_channel(), host, kPort, NULL, 0);
  for (int i = 0; i < kRequests; ++i) {
    pthread_t timer;
    struct ibv_wc wc = {0};
    requests[i].pending = true;
    NEED(post_recv(&lane, i));
    NEED(pthread_create(&timer, NULL, time_out, &requests[i]));
    NEED(post_send(&lane, 16 + i));
    while (next_wc(&lane, &wc, 100)) {
      if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
      if (wc.opcode & IBV_WC_RECV) break;
    }
    complete(&requests[i]);
    pthread_join(timer, NULL);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, kRequests);
  for (int i = 0; i < kRequests;) {
    const struct ibv_wc wc = good_wc(&lane);
    if (!(wc.opcode & IBV_WC_RECV)) continue;
    sleep_us(kWork);
    NEED(post_send(&lane, 16 + i++));
  }
  await_end(channel);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
