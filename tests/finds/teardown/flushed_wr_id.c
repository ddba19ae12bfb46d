// SPDK pull request 3859: a queue pair is destroyed before the completions of its flushed work
// have been drained. The poller has a batch in its hands, and the wr_id of each completion points
// to a request.
// kind: use after free at teardown
// source: https://github.com/spdk/spdk/pull/3859
// needs: points
// buggy: frees the requests as soon as the queue pair is destroyed.
// fixed: waits until the poller has given back every request, and destroys then. Freed memory
//   bears a word that no request has.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kAlive = 0x600d, kFreed = 0xdead, kDepth = 8, kMessages = 6 };
struct request {
  int word, slot;
};
static struct request* requests[kDepth];
static struct lane lane;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int outstanding;
static atomic_bool stop;
static bool fixed;

static bool receive(struct request* r) {
  struct ibv_sge sge = {(uintptr_t)slot(&lane, r->slot), kSlot, lane.mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = (uintptr_t)r, .sg_list = &sge, .num_sge = 1}, *bad;
  return ibv_post_recv(lane.id->qp, &wr, &bad) == 0;
}

// Each completion gives its request back, or posts it again.
static void complete(const struct ibv_wc* wc) {
  struct request* r = (struct request*)(uintptr_t)wc->wr_id;
  CHECK(r->word == kAlive);
  if (wc->status == IBV_WC_SUCCESS && !stop && receive(r)) return;
  pthread_mutex_lock(&lock);
  --outstanding;
  pthread_mutex_unlock(&lock);
}

static void* poll_all(void* unused) {
  struct ibv_wc batch[4];
  struct ibv_cq* cq;
  void* context;
  while (!stop) {
    int n;
    NEED(ibv_req_notify_cq(lane.cq, 0));
    while ((n = ibv_poll_cq(lane.cq, 4, batch)) > 0)
      for (int i = 0; i < n; ++i) complete(&batch[i]);
    if (n < 0) give_up("ibv_poll_cq");
    if (!readable(lane.comp->fd, 5)) continue;
    while (ibv_get_cq_event(lane.comp, &cq, &context) == 0) ibv_ack_cq_events(cq, 1);
  }
  return unused;
}

static void drain(void) {
  for (int tries = 0; tries < 1000; ++tries) {
    pthread_mutex_lock(&lock);
    const int left = outstanding;
    pthread_mutex_unlock(&lock);
    if (left == 0) return;
    sleep_us(100);
  }
  give_up("the flush does not come");
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(&lane, id)) give_up("a queue pair");
  for (int i = 0; i < kDepth; ++i) {
    requests[i] = malloc(sizeof **requests);
    *requests[i] = (struct request){kAlive, i};
    if (!receive(requests[i])) give_up("a receive");
    ++outstanding;
  }
  pthread_t poller;
  NEED(pthread_create(&poller, NULL, poll_all, NULL));
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  int type;
  do type = next_type(channel, kPatience);
  while (type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_ADDR_CHANGE);
  rdma_disconnect(id);
  if (fixed) drain();
  rdma_destroy_qp(id);
  for (int i = 0; i < kDepth; ++i) requests[i]->word = kFreed;
  stop = true;
  pthread_join(poller, NULL);
  for (int i = 0; i < kDepth; ++i) free(requests[i]);
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
