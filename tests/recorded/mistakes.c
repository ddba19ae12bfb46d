/* A pair of processes that exchanges one message and makes a mistake:
 *
 *   mistakes serve none|twice|source ADDRESS FIFO
 *   mistakes ask none|twice|source ADDRESS FIFO
 *
 * twice: the client acknowledges an event twice. source: it changes the source of a SEND that the
 * server has no receive for yet. The server posts its receive once the client has written to FIFO.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRY(what)                 \
  do {                            \
    if (!(what)) return __LINE__; \
  } while (0)

enum { kBytes = 64, kPort = 7471 };

static const char* mistake;
static const char* fifo;
static struct sockaddr_in server_address;

static struct rdma_cm_id* next(struct rdma_event_channel* channel, enum rdma_cm_event_type type) {
  struct rdma_cm_event* event;
  struct rdma_cm_id* id;
  if (rdma_get_cm_event(channel, &event) != 0) return 0;
  id = event->event == type ? event->id : 0;
  rdma_ack_cm_event(event);
  if (type == RDMA_CM_EVENT_ADDR_RESOLVED && strcmp(mistake, "twice") == 0)
    rdma_ack_cm_event(event);
  return id;
}

static int make_qp(struct rdma_cm_id* id) {
  struct ibv_qp_init_attr attr;
  memset(&attr, 0, sizeof attr);
  attr.qp_type = IBV_QPT_RC;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  return rdma_create_qp(id, 0, &attr);
}

static int poll_one(struct ibv_cq* cq) {
  struct ibv_wc completion;
  int got = 0;
  while (got == 0) got = ibv_poll_cq(cq, 1, &completion);
  return got == 1 && completion.status == IBV_WC_SUCCESS;
}

static int serve(void) {
  static char memory[kBytes];
  char byte;
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id *listener, *id;
  struct ibv_mr* mr;
  int from;

  TRY(rdma_create_id(channel, &listener, 0, RDMA_PS_TCP) == 0);
  TRY(rdma_bind_addr(listener, (struct sockaddr*)&server_address) == 0);
  TRY(rdma_listen(listener, 4) == 0);
  TRY((from = open(fifo, O_RDONLY)) >= 0); /* the client waits for that */
  TRY((id = next(channel, RDMA_CM_EVENT_CONNECT_REQUEST)) != 0);
  TRY(make_qp(id) == 0);
  TRY((mr = rdma_reg_msgs(id, memory, sizeof memory)) != 0);
  TRY(rdma_accept(id, 0) == 0);
  TRY(next(channel, RDMA_CM_EVENT_ESTABLISHED) != 0);
  TRY(read(from, &byte, 1) == 1);
  TRY(rdma_post_recv(id, (void*)1, memory, sizeof memory, mr) == 0);
  TRY(poll_one(id->recv_cq));
  TRY(next(channel, RDMA_CM_EVENT_DISCONNECTED) != 0);
  rdma_destroy_qp(id);
  TRY(rdma_dereg_mr(mr) == 0);
  TRY(rdma_destroy_id(id) == 0);
  TRY(rdma_destroy_id(listener) == 0);
  rdma_destroy_event_channel(channel);
  return 0;
}

static int ask(void) {
  static char memory[kBytes] = "all good things come to an end";
  struct rdma_conn_param param;
  struct rdma_event_channel* channel = rdma_create_event_channel();
  struct rdma_cm_id* id;
  struct ibv_mr* mr;
  int to;

  TRY((to = open(fifo, O_WRONLY)) >= 0);
  TRY(rdma_create_id(channel, &id, 0, RDMA_PS_TCP) == 0);
  TRY(rdma_resolve_addr(id, 0, (struct sockaddr*)&server_address, 1000) == 0);
  TRY(next(channel, RDMA_CM_EVENT_ADDR_RESOLVED) != 0);
  TRY(rdma_resolve_route(id, 1000) == 0);
  TRY(next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) != 0);
  TRY(make_qp(id) == 0);
  TRY((mr = rdma_reg_msgs(id, memory, sizeof memory)) != 0);
  memset(&param, 0, sizeof param);
  param.private_data = "may I";
  param.private_data_len = 5;
  param.retry_count = param.rnr_retry_count = 7;
  TRY(rdma_connect(id, &param) == 0);
  TRY(next(channel, RDMA_CM_EVENT_ESTABLISHED) != 0);
  TRY(rdma_post_send(id, (void*)1, memory, kBytes, mr, IBV_SEND_SIGNALED) == 0);
  if (strcmp(mistake, "source") == 0) strcpy(memory, "to which there is no end");
  TRY(write(to, "x", 1) == 1);
  TRY(poll_one(id->send_cq));
  TRY(rdma_disconnect(id) == 0);
  TRY(next(channel, RDMA_CM_EVENT_DISCONNECTED) != 0);
  rdma_destroy_qp(id);
  TRY(rdma_dereg_mr(mr) == 0);
  TRY(rdma_destroy_id(id) == 0);
  rdma_destroy_event_channel(channel);
  return 0;
}

int main(int count, char** words) {
  int line;
  if (count != 5) return 2;
  mistake = words[2];
  fifo = words[4];
  server_address.sin_family = AF_INET;
  server_address.sin_port = htons(kPort);
  if (inet_pton(AF_INET, words[3], &server_address.sin_addr) != 1) return 2;
  line = words[1][0] == 's' ? serve() : ask();
  if (line != 0) printf("line %d of mistakes.c failed\n", line);
  return line == 0 ? 0 : 1;
}
