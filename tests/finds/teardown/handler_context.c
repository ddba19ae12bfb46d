// A handler's context is freed while another thread uses it (libfabric issue 10736, rpma pull
// request 89). A worker answers messages of sessions that it finds in a table; the thread of the
// connection manager takes a session out of the table at DISCONNECTED, and frees it.
// kind: use after free at teardown
// source: https://github.com/ofiwg/libfabric/issues/10736, https://github.com/pmem/rpma/pull/89
// needs: points
// buggy: the worker uses what it has found in the table, without a reference of its own.
// fixed: a session counts who uses it, and the last one frees it. Freed memory bears a word that
//   no session has.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kAlive = 0x600d, kFreed = 0xdead, kMessages = 4 };
struct session {
  int word, users;
  struct lane lane;
};
static struct session* table[1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool fixed;

static void release(struct session* s) {
  pthread_mutex_lock(&lock);
  const int left = --s->users;
  pthread_mutex_unlock(&lock);
  if (left > 0) return;
  lane_close(&s->lane);
  s->word = kFreed;
}

static struct session* find(int n) {
  pthread_mutex_lock(&lock);
  struct session* s = table[n];
  if (s && fixed) ++s->users;
  pthread_mutex_unlock(&lock);
  return s;
}

// Answers one message, if there is one. False: the session is over.
static bool answer_one(bool* answered) {
  struct session* s = find(0);
  if (!s) return false;
  struct ibv_wc wc;
  bool goes_on = true;
  *answered = next_wc(&s->lane, &wc, 0);
  if (*answered) {
    CHECK(s->word == kAlive);
    goes_on = wc.status == IBV_WC_SUCCESS;
    if (goes_on && wc.wr_id < 100) {
      memcpy(slot(&s->lane, 16 + (int)wc.wr_id), slot(&s->lane, (int)wc.wr_id), kSlot);
      goes_on =
          post_recv(&s->lane, (int)wc.wr_id) == 0 && post_send(&s->lane, 16 + (int)wc.wr_id) == 0;
    }
  }
  CHECK(s->word == kAlive);
  if (fixed) release(s);
  return goes_on;
}

static void* work(void* unused) {
  bool answered;
  for (int64_t nap = 30; answer_one(&answered);) {
    nap = answered ? 30 : nap < 10000 ? 2 * nap : nap;
    sleep_us(nap);
  }
  return unused;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct session* s = calloc(1, sizeof *s);
  *s = (struct session){.word = kAlive, .users = 1};
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(&s->lane, id)) give_up("a queue pair");
  for (int i = 0; i < 8; ++i) NEED(post_recv(&s->lane, i));
  table[0] = s;
  pthread_t worker;
  NEED(pthread_create(&worker, NULL, work, NULL));
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  int type;
  do type = next_type(channel, kPatience);
  while (type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_ADDR_CHANGE);
  rdma_disconnect(id);
  pthread_mutex_lock(&lock);
  table[0] = NULL;
  pthread_mutex_unlock(&lock);
  release(s);
  pthread_join(worker, NULL);
  return 0;
}

// In a hurry: it does not wait for the last answer.
static int talk(const char* host) {
  struct lane lane;
  dial(&lane, open_channel(), host, kPort, NULL, 0);
  for (int i = 0; i < kMessages; ++i) NEED(post_recv(&lane, i));
  for (int i = 0; i < kMessages; ++i) {
    NEED(post_send(&lane, 16));
    for (int done = 0; done < (i + 1 < kMessages ? 2 : 1); ++done) good_wc(&lane);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
