// Operations within one process, each answered before the next: how many nanoseconds of the
// program's own clock one takes, by kind. Fails if that is more than two microseconds.
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "tests/simulated/own_pair.h"

enum { kOperations = 2000, kSlow = 2000 };

static int slow;

static _Alignas(64) char bytes[4096];
static struct ibv_mr* region;
static struct ibv_sge piece;     // what is sent, or where a READ goes
static struct ibv_sge received;  // where a message goes

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void await_completions(int count) {
  struct ibv_wc completion;
  while (count > 0) {
    const int got = ibv_poll_cq(cq, 1, &completion);
    MUST(got >= 0 && (got == 0 || completion.status == IBV_WC_SUCCESS));
    count -= got;
  }
}

static void receive_one(void) {
  struct ibv_recv_wr request = {.sg_list = &received, .num_sge = 1};
  struct ibv_recv_wr* bad;
  MUST(ibv_post_recv(peer, &request, &bad) == 0);
}

static void post(enum ibv_wr_opcode opcode, int count) {
  struct ibv_send_wr requests[8];
  struct ibv_send_wr* bad;
  memset(requests, 0, sizeof requests);
  for (int i = 0; i < count; ++i) {
    requests[i].next = i + 1 < count ? &requests[i + 1] : NULL;
    requests[i].sg_list = &piece;
    requests[i].num_sge = 1;
    requests[i].opcode = opcode;
    requests[i].send_flags = IBV_SEND_SIGNALED;
    requests[i].wr.rdma.remote_addr = (uintptr_t)(bytes + 2048 + 8 * i);
    requests[i].wr.rdma.rkey = region->rkey;
  }
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    requests[0].wr.atomic.remote_addr = (uintptr_t)(bytes + 2048);
    requests[0].wr.atomic.compare_add = 1;
    requests[0].wr.atomic.rkey = region->rkey;
  }
  MUST(ibv_post_send(qp, requests, &bad) == 0);
}

static void measure(const char* kind, enum ibv_wr_opcode opcode, int at_once) {
  const int receives = opcode == IBV_WR_SEND ? 1 : 0;
  const long long begin = now();
  for (int i = 0; i < kOperations; i += at_once) {
    if (receives != 0) receive_one();
    post(opcode, at_once);
    await_completions(at_once + receives);
  }
  const long long each = (now() - begin) / kOperations;
  printf("%s: %lld ns each\n", kind, each);
  slow |= each > kSlow;
}

int main(void) {
  make_pair();
  region = ibv_reg_mr(pd, bytes, sizeof bytes, kAllAccess);
  MUST(region != NULL);
  piece = (struct ibv_sge){(uintptr_t)bytes, 8, region->lkey};
  received = (struct ibv_sge){(uintptr_t)(bytes + 1024), 8, region->lkey};
  measure("write", IBV_WR_RDMA_WRITE, 1);
  measure("writes", IBV_WR_RDMA_WRITE, 8);
  measure("read", IBV_WR_RDMA_READ, 1);
  measure("send", IBV_WR_SEND, 1);
  measure("atomic", IBV_WR_ATOMIC_FETCH_AND_ADD, 1);
  return slow;
}
