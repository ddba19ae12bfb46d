// Two threads on one device: one posts READs within its own process and polls without pause, until
// the other has deregistered a region.
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/simulated/own_pair.h"

static atomic_int begun, over;
static struct ibv_mr* region;

static void* read_without_pause(void* unused) {
  struct ibv_sge piece = {(uintptr_t)region->addr, 4096, region->lkey};
  struct ibv_send_wr request = {
      .sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr* bad;
  struct ibv_wc completion;
  request.wr.rdma.remote_addr = (uintptr_t)region->addr;
  request.wr.rdma.rkey = region->rkey;
  while (!over) {
    MUST(ibv_post_send(qp, &request, &bad) == 0);
    while (ibv_poll_cq(cq, 1, &completion) == 0) continue;
    MUST(completion.status == IBV_WC_SUCCESS);
    begun = 1;
  }
  return unused;
}

int main(void) {
  static char bytes[2][4096];
  make_pair();
  region =
      ibv_reg_mr(pd, bytes[0], sizeof bytes[0], IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  struct ibv_mr* other = ibv_reg_mr(pd, bytes[1], sizeof bytes[1], IBV_ACCESS_LOCAL_WRITE);
  pthread_t reader;
  MUST(pthread_create(&reader, NULL, read_without_pause, NULL) == 0);
  while (!begun) sched_yield();
  MUST(ibv_dereg_mr(other) == 0);
  over = 1;
  MUST(pthread_join(reader, NULL) == 0);
  puts("deregistered");
  return 0;
}
