#include "tests/recorded/scenario.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <string.h>

#define TRY(what)                 \
  do {                            \
    if (!(what)) return __LINE__; \
  } while (0)

enum { kBytes = 64, kPort = 7471 };

static struct sockaddr_in server_address(void) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl(0x0a000001);
  return address;
}

/* Takes the next event and gives it back. Its id, or 0 if it is another one. */
static struct rdma_cm_id* next(struct rdma_event_channel* channel, enum rdma_cm_event_type type) {
  struct rdma_cm_event* event;
  struct rdma_cm_id* id;
  if (rdma_get_cm_event(channel, &event) != 0) return 0;
  id = event->event == type ? event->id : 0;
  rdma_ack_cm_event(event);
  return id;
}

static int make_qp(struct rdma_cm_id* id, struct ibv_srq* srq) {
  struct ibv_qp_init_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.qp_type = IBV_QPT_RC;
  attr.srq = srq;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  return rdma_create_qp(id, id->pd, &attr);
}

static int poll_one(struct ibv_cq* cq, struct ibv_wc* completion) {
  int got = 0;
  while (got == 0) got = ibv_poll_cq(cq, 1, completion);
  return got == 1 && completion->status == IBV_WC_SUCCESS;
}

int scenario_serve(void) {
  char memory[2 * kBytes];
  struct rdma_conn_param param;
  struct sockaddr_in address = server_address();
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id *listener, *id;
  struct ibv_srq_init_attr srq_attr;
  struct ibv_srq_attr limit;
  struct ibv_srq* srq;
  struct ibv_recv_wr receive, *bad;
  struct ibv_sge piece;
  struct ibv_mr* mr;
  struct ibv_wc completion;

  TRY(rdma_create_id(channel, &listener, 0, RDMA_PS_TCP) == 0);
  TRY(rdma_bind_addr(listener, (struct sockaddr*)&address) == 0);
  TRY(rdma_listen(listener, 4) == 0);
  TRY((id = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST)) != 0);
  TRY(rdma_reject(id, "not now", 7) == 0);
  TRY(rdma_destroy_id(id) == 0);

  TRY((id = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST)) != 0);
  memset(&srq_attr, 0, sizeof srq_attr);
  srq_attr.attr.max_wr = 4;
  srq_attr.attr.max_sge = 1;
  TRY((srq = ibv_create_srq(id->pd, &srq_attr)) != 0);
  TRY(make_qp(id, srq) == 0);
  memset(memory, 0, sizeof memory);
  TRY((mr = rdma_reg_msgs(id, memory, sizeof memory)) != 0);
  for (unsigned i = 0; i < 2; ++i) {
    memset(&receive, 0, sizeof receive);
    piece.addr = (uintptr_t)memory + i * kBytes;
    piece.length = kBytes;
    piece.lkey = mr->lkey;
    receive.wr_id = 10 + i;
    receive.sg_list = &piece;
    receive.num_sge = 1;
    TRY(ibv_post_srq_recv(srq, &receive, &bad) == 0);
  }
  memset(&limit, 0, sizeof limit);
  limit.srq_limit = 2;
  TRY(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
  memset(&param, 0, sizeof param);
  param.responder_resources = param.initiator_depth = 3;
  param.private_data = "welcome";
  param.private_data_len = 7;
  TRY(rdma_accept(id, &param) == 0);
  TRY(next(channel, RDMA_CM_EVENT_ESTABLISHED) != 0);
  TRY(poll_one(id->recv_cq, &completion));
  TRY(poll_one(id->recv_cq, &completion));
  TRY(next(channel, RDMA_CM_EVENT_DISCONNECTED) != 0);
  TRY(rdma_disconnect(id) == 0);
  rdma_destroy_qp(id);
  TRY(ibv_destroy_srq(srq) == 0);
  TRY(rdma_dereg_mr(mr) == 0);
  TRY(rdma_destroy_id(id) == 0);
  TRY(rdma_destroy_id(listener) == 0);
  rdma_destroy_event_channel(channel);
  return 0;
}

static struct rdma_cm_id* resolve(struct rdma_event_channel* channel) {
  struct sockaddr_in address = server_address();
  struct rdma_cm_id* id;
  if (rdma_create_id(channel, &id, 0, RDMA_PS_TCP) != 0) return 0;
  if (rdma_resolve_addr(id, 0, (struct sockaddr*)&address, 1000) != 0) return 0;
  if (next(channel, RDMA_CM_EVENT_ADDR_RESOLVED) == 0) return 0;
  if (rdma_resolve_route(id, 1000) != 0) return 0;
  if (next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) == 0) return 0;
  return make_qp(id, 0) == 0 ? id : 0;
}

int scenario_ask(void) {
  char memory[kBytes] = "all good things come to an end";
  struct rdma_conn_param param;
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id* id;
  struct ibv_mr* mr;
  struct ibv_wc completion;

  TRY((id = resolve(channel)) != 0);
  memset(&param, 0, sizeof param);
  param.private_data = "may I";
  param.private_data_len = 5;
  param.responder_resources = 2;
  param.initiator_depth = 1;
  param.retry_count = 7;
  TRY(rdma_connect(id, &param) == 0);
  TRY(next(channel, RDMA_CM_EVENT_REJECTED) != 0);
  TRY(rdma_connect(id, 0) != 0); /* refused, and said so */
  rdma_destroy_qp(id);
  TRY(rdma_destroy_id(id) == 0);

  TRY((id = resolve(channel)) != 0);
  TRY((mr = rdma_reg_msgs(id, memory, sizeof memory)) != 0);
  TRY(rdma_connect(id, &param) == 0);
  TRY(next(channel, RDMA_CM_EVENT_ESTABLISHED) != 0);
  TRY(rdma_post_send(id, (void*)1, memory, 9, mr, 0) == 0);
  TRY(rdma_post_send(id, (void*)2, memory, kBytes, mr, IBV_SEND_SIGNALED) == 0);
  TRY(poll_one(id->send_cq, &completion));
  TRY(rdma_disconnect(id) == 0);
  TRY(next(channel, RDMA_CM_EVENT_DISCONNECTED) != 0);
  rdma_destroy_qp(id);
  TRY(rdma_dereg_mr(mr) == 0);
  TRY(rdma_destroy_id(id) == 0);
  rdma_destroy_event_channel(channel);
  return 0;
}
