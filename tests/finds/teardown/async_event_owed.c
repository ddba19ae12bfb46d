// An asynchronous event is not acknowledged on the way out, and ibv_destroy_qp waits for that for
// ever.
// kind: event not acknowledged on an error path
// source: ibv_get_async_event(3); https://github.com/spdk/spdk/issues/2356
// needs: faults
// buggy: the thread that takes events acknowledges those that it knows, and ends at any other.
// fixed: acknowledges each, and ends after that.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kMessages = 8 };
static struct lane lane;
static bool fixed;
static atomic_bool stop, fatal;

static void* take_events(void* unused) {
  struct ibv_context* context = lane.id->verbs;
  fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
  while (!stop) {
    struct ibv_async_event event;
    if (!readable(context->async_fd, 20) || ibv_get_async_event(context, &event) != 0) continue;
    const bool known = event.event_type == IBV_EVENT_COMM_EST ||
                       event.event_type == IBV_EVENT_PORT_ERR ||
                       event.event_type == IBV_EVENT_PORT_ACTIVE;
    if (known || fixed) ibv_ack_async_event(&event);
    if (known) continue;
    fatal = true;
    break;
  }
  return unused;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, kMessages);
  pthread_t taker;
  NEED(pthread_create(&taker, NULL, take_events, NULL));
  struct ibv_wc wc;
  for (int n = 0; n < kMessages && !fatal; ++n)
    if (!next_wc(&lane, &wc, 200) || wc.status != IBV_WC_SUCCESS) break;
  rdma_disconnect(lane.id);
  stop = true;
  pthread_join(taker, NULL);
  rdma_destroy_qp(lane.id);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  dial(&lane, open_channel(), host, kPort, NULL, 0);
  for (int i = 0; i < kMessages; ++i) {
    NEED(post_send(&lane, i));
    good_wc(&lane);
    sleep_us(100);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
