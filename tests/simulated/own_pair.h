// Two queue pairs of one process, connected to each other.
#pragma once

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) ((condition) ? (void)0 : fail(#condition))

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static const int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                              IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

static void connect_to(struct ibv_qp* from, struct ibv_qp* to, union ibv_gid gid) {
  struct ibv_qp_attr init = {
      .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = kAllAccess};
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

static struct ibv_pd* pd;
static struct ibv_cq* cq;
static struct ibv_qp* qp;
static struct ibv_qp* peer;

static void make_pair(void) {
  struct ibv_device** devices = ibv_get_device_list(NULL);
  MUST(devices != NULL && *devices != NULL);
  struct ibv_context* context = ibv_open_device(*devices);
  pd = ibv_alloc_pd(context);
  cq = ibv_create_cq(context, 64, NULL, NULL, 0);
  struct ibv_qp_init_attr attributes = {
      .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .cap = {16, 16, 1, 1, 0}};
  qp = ibv_create_qp(pd, &attributes);
  peer = ibv_create_qp(pd, &attributes);
  union ibv_gid gid;
  MUST(ibv_query_gid(context, 1, 0, &gid) == 0);
  connect_to(qp, peer, gid);
  connect_to(peer, qp, gid);
}
