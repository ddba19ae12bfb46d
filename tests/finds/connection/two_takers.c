// Two threads take events of one channel (UCX pull request 4719 is what comes of it): the thread
// that has ESTABLISHED is overtaken by the one that has DISCONNECTED.
// kind: two threads that take events of one channel
// source: https://github.com/openucx/ucx/pull/4719
// needs: points
// buggy: each handles what it has taken, under a lock for the table: the session is opened after
//   it has been closed, and stays in the table.
// fixed: takes an event and handles it under the same lock. At the end nobody may be left in the
//   table.
#include <pthread.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kFree, kRequested, kOpen, kClosed };
static struct rdma_event_channel* channel;
static struct lane lane;
static int state = kFree;
static bool fixed, hung_up;
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, order = PTHREAD_MUTEX_INITIALIZER;

// True: the session is over.
static bool handle(enum rdma_cm_event_type type, struct rdma_cm_id* id) {
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  pthread_mutex_lock(&table);
  if (type == RDMA_CM_EVENT_CONNECT_REQUEST && state == kFree) {
    if (!lane_open(&lane, id)) give_up("a queue pair");
    NEED(post_recv(&lane, 0));
    state = kRequested;
    NEED(rdma_accept(id, &p));
  } else if (type == RDMA_CM_EVENT_ESTABLISHED) {
    state = kOpen;
  } else if (type == RDMA_CM_EVENT_DISCONNECTED) {
    state = kClosed;
    hung_up = true;
  } else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL || type == RDMA_CM_EVENT_REJECTED) {
    give_up("no connection");
  }
  const bool over = state == kClosed;
  pthread_mutex_unlock(&table);
  return over;
}

static void* take_events(void* unused) {
  for (bool over = false; !over;) {
    if (!readable(channel->fd, 5000)) break;
    if (fixed) pthread_mutex_lock(&order);
    struct rdma_cm_event* event;
    if (rdma_get_cm_event(channel, &event) == 0) {
      const enum rdma_cm_event_type type = event->event;
      struct rdma_cm_id* id = event->id;
      rdma_ack_cm_event(event);
      over = handle(type, id);
    }
    if (fixed) pthread_mutex_unlock(&order);
  }
  return unused;
}

static int serve(void) {
  channel = open_channel();
  listen_at(channel, kPort, 4);
  pthread_t takers[2];
  for (int i = 0; i < 2; ++i) NEED(pthread_create(&takers[i], NULL, take_events, NULL));
  for (int i = 0; i < 2; ++i) pthread_join(takers[i], NULL);
  if (state == kFree || state == kRequested) give_up("no client");
  if (!hung_up) give_up("the client is silent");
  CHECK(state == kClosed);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  struct lane mine;
  dial(&mine, open_channel(), host, kPort, NULL, 0);
  rdma_disconnect(mine.id);
  lane_close(&mine);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
