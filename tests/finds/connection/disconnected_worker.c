// DISCONNECTED races with a worker that posts (rdma-core pull request 1182 is of this kind). A
// client's worker reports one thing after another; its event thread ends the session when the
// server hangs up.
// kind: race between DISCONNECTED and a worker that posts
// source: https://github.com/linux-rdma/rdma-core/pull/1182
// needs: points
// buggy: the worker looks whether the session is up, and posts after that: to a queue pair that
//   may be gone by then.
// fixed: looks and posts under the lock that the event thread holds while it ends the session.
#include <pthread.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kReports = 6 };
static struct lane lane;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool fixed, up;

static bool is_up(void) {
  pthread_mutex_lock(&lock);
  const bool now = up;
  pthread_mutex_unlock(&lock);
  return now;
}

static bool post_one(int n) {
  CHECK(lane.id->qp != NULL);
  return post_send(&lane, n % 32) == 0;
}

// False: the session is over.
static bool report(int n) {
  if (!fixed) return is_up() && post_one(n);
  pthread_mutex_lock(&lock);
  const bool posted = up && post_one(n);
  pthread_mutex_unlock(&lock);
  return posted;
}

static void* work(void* unused) {
  struct ibv_wc wc;
  for (int n = 0; n < 30 && report(n); ++n)
    if (!next_wc(&lane, &wc, 50) || wc.status != IBV_WC_SUCCESS) break;
  return unused;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  dial(&lane, channel, host, kPort, NULL, 0);
  up = true;
  pthread_t worker;
  NEED(pthread_create(&worker, NULL, work, NULL));
  int type;
  do type = next_type(channel, kPatience);
  while (type == RDMA_CM_EVENT_ADDR_CHANGE);
  pthread_mutex_lock(&lock);
  up = false;
  rdma_disconnect(lane.id);
  rdma_destroy_qp(lane.id);
  lane.id->qp = NULL;
  pthread_mutex_unlock(&lock);
  pthread_join(worker, NULL);
  lane_close(&lane);
  return 0;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(&lane, id)) give_up("a queue pair");
  for (int i = 0; i < 30; ++i) NEED(post_recv(&lane, i));
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  for (int i = 0; i < kReports; ++i) good_wc(&lane);
  rdma_disconnect(id);
  for (int type = 0; type != -1 && type != RDMA_CM_EVENT_DISCONNECTED;)
    type = next_type(channel, kPatience);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
