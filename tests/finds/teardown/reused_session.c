// A queue of work names its session by address, and the address has a new owner by then.
// kind: use after free at teardown, of a session that is made anew in the same place
// source: https://github.com/spdk/spdk/pull/3859 (a completion hits the next connection)
// needs: order
// buggy: a worker answers to the session whose address stands in the queue.
// fixed: a session has a generation, and work of an earlier one is dropped. A server of one place.
//   A client that gets an answer to somebody else's question has been betrayed.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kQuestions = 3, kTries = 60, kThink = 700 };
struct session {
  struct lane lane;
  int generation;
  bool open;
};
struct work {
  struct session* session;
  int generation;
  char name;
};
static struct session place;
static struct work queue[64];
static unsigned head, tail;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static bool fixed;

static void* answer_all(void* unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (head == tail) pthread_cond_wait(&queued, &lock);
    const struct work w = queue[head++ % 64];
    pthread_mutex_unlock(&lock);
    sleep_us(kThink);
    pthread_mutex_lock(&lock);
    struct session* s = w.session;
    if (s->open && (!fixed || s->generation == w.generation)) {
      slot(&s->lane, 32)[0] = w.name;
      post_send(&s->lane, 32);
    }
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static void take_questions(void) {
  struct ibv_wc wc;
  while (place.open && next_wc(&place.lane, &wc, 0)) {
    if (wc.status != IBV_WC_SUCCESS) return;
    if (!(wc.opcode & IBV_WC_RECV)) continue;
    queue[tail++ % 64] =
        (struct work){&place, place.generation, slot(&place.lane, (int)wc.wr_id)[0]};
    pthread_cond_signal(&queued);
    if (post_recv(&place.lane, (int)wc.wr_id)) return;
  }
}

static void on_event(enum rdma_cm_event_type type, struct rdma_cm_id* id) {
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
  if (type == RDMA_CM_EVENT_CONNECT_REQUEST && place.open) {
    rdma_reject(id, NULL, 0);
    rdma_destroy_id(id);
  } else if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    if (!lane_open(&place.lane, id)) give_up("a queue pair");
    for (int i = 0; i < 8; ++i) NEED(post_recv(&place.lane, i));
    ++place.generation;
    place.open = rdma_accept(id, &p) == 0;
    if (!place.open) lane_close(&place.lane);
  } else if (place.open && id == place.lane.id &&
             (type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED)) {
    rdma_disconnect(id);
    lane_close(&place.lane);
    place.open = false;
  }
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  pthread_t worker;
  listen_at(channel, kPort, 8);
  NEED(pthread_create(&worker, NULL, answer_all, NULL));
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, 0);
    pthread_mutex_lock(&lock);
    take_questions();
    if (event) {
      const enum rdma_cm_event_type type = event->event;
      struct rdma_cm_id* id = event->id;
      rdma_ack_cm_event(event);
      on_event(type, id);
    }
    pthread_mutex_unlock(&lock);
    if (!event) wait_any(channel, &place.lane, 1, -1);
  }
}

// Asks, and goes away without the answer of the last question.
static bool session(struct rdma_event_channel* channel, const char* host, char name) {
  struct lane lane;
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(&lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  const bool there = next_type(channel, kPatience) == RDMA_CM_EVENT_ESTABLISHED;
  for (int i = 0; there && i < kQuestions; ++i) {
    struct ibv_wc wc;
    slot(&lane, 16)[0] = name;
    NEED(post_recv(&lane, i));
    NEED(post_send(&lane, 16));
    while (next_wc(&lane, &wc, i + 1 < kQuestions ? 1000 : 1) && wc.status == IBV_WC_SUCCESS) {
      if (!(wc.opcode & IBV_WC_RECV)) continue;
      CHECK(slot(&lane, (int)wc.wr_id)[0] == name);
      break;
    }
  }
  if (there) rdma_disconnect(id);
  lane_close(&lane);
  return there;
}

static int talk_as(const char* host, char name) {
  struct rdma_event_channel* channel = open_channel();
  for (int tries = 0, sessions = 0; sessions < 3; ++tries) {
    if (tries == kTries) give_up("the place is taken");
    if (session(channel, host, (char)(name + sessions)))
      ++sessions;
    else
      sleep_us(300);
  }
  return 0;
}
static int talk(const char* host) {
  return talk_as(host, 'a');
}

int main(int argc, char** argv) {
  if (argc != 5) return by_role(argc, argv, &fixed, serve, talk);
  return talk_as(argv[3], argv[4][0]);
}
