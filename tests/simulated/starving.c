// Two threads on one device: one posts READs within its own process and polls without pause, until
// the other has deregistered a region.
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) ((condition) ? (void)0 : fail(#condition))

static atomic_int begun, over;
static struct ibv_cq* cq;
static struct ibv_qp* qp;
static struct ibv_mr* region;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

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

static void connect_to(struct ibv_qp* from, struct ibv_qp* to, union ibv_gid gid) {
  struct ibv_qp_attr init = {
      .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_READ};
  struct ibv_qp_attr receive = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = IBV_MTU_1024,
      .dest_qp_num = to->qp_num,
      .max_dest_rd_atomic = 16,
      .min_rnr_timer = 12,
      .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .hop_limit = 64}}};
  struct ibv_qp_attr send = {
      .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 16};
  MUST(ibv_modify_qp(from, &init,
                     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  MUST(ibv_modify_qp(from, &receive,
                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  MUST(ibv_modify_qp(from, &send,
                     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                         IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

int main(void) {
  static char bytes[2][4096];
  struct ibv_device** devices = ibv_get_device_list(NULL);
  MUST(devices != NULL && *devices != NULL);
  struct ibv_context* context = ibv_open_device(*devices);
  struct ibv_pd* pd = ibv_alloc_pd(context);
  cq = ibv_create_cq(context, 16, NULL, NULL, 0);
  struct ibv_qp_init_attr attributes = {
      .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = {16, 16, 1, 1, 0}};
  qp = ibv_create_qp(pd, &attributes);
  struct ibv_qp* peer = ibv_create_qp(pd, &attributes);
  union ibv_gid gid;
  MUST(ibv_query_gid(context, 1, 0, &gid) == 0);
  connect_to(qp, peer, gid);
  connect_to(peer, qp, gid);
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
