// sideway pull request 115: rdma_migrate_id waits until the events of the id's old channel have
// been acknowledged. A server hands a connection that is established over to a worker's channel;
// another thread reports every event of the first channel under the lock of the log.
// kind: deadlock, of rdma_migrate_id and an event that is not acknowledged
// source: https://github.com/RDMA-Rust/sideway/pull/115
// needs: points
// buggy: migrates under that lock, while the other thread has an event of the id and waits for the
//   lock.
// fixed: migrates without it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/finds/cm.h"

static struct rdma_event_channel* channel;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static bool fixed;
static struct lane lane;
static atomic_int lines;
static atomic_bool requested, over;

static void say(const char* what) {
  pthread_mutex_lock(&log_lock);
  lines += what[0] != 0;
  pthread_mutex_unlock(&log_lock);
}

static void* take_events(void* unused) {
  while (!over) {
    struct rdma_cm_event* event = next_event(channel, 100);
    if (!event) continue;
    say(rdma_event_str(event->event));
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      struct rdma_conn_param p = params(7, 7, NULL, 0);
      if (lane.id || !lane_open(&lane, event->id)) give_up("a queue pair");
      NEED(post_recv(&lane, 0));
      NEED(rdma_accept(event->id, &p));
      requested = true;
    }
    rdma_ack_cm_event(event);
  }
  return unused;
}

static int serve(void) {
  channel = open_channel();
  struct rdma_event_channel* workers = open_channel();
  listen_at(channel, kPort, 4);
  pthread_t taker;
  NEED(pthread_create(&taker, NULL, take_events, NULL));
  const int64_t until = now_us() + 2000000;
  while (!requested && now_us() < until) sleep_us(200);
  if (!requested) give_up("no client");
  // The greeting says that the client is connected.
  good_wc(&lane);
  if (fixed) {
    NEED(rdma_migrate_id(lane.id, workers));
    say("handed over");
  } else {
    pthread_mutex_lock(&log_lock);
    NEED(rdma_migrate_id(lane.id, workers));
    ++lines;
    pthread_mutex_unlock(&log_lock);
  }
  over = true;
  pthread_join(taker, NULL);
  await_end(workers);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  struct lane mine;
  dial(&mine, open_channel(), host, kPort, NULL, 0);
  NEED(post_send(&mine, 0));
  good_wc(&mine);
  sleep_us(1000);
  rdma_disconnect(mine.id);
  lane_close(&mine);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
