/* A server of somebody's own: accepts one connection, tells what came, and ends with it. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rdma_cm_id *next(struct rdma_event_channel *channel, char *data) {
  struct rdma_cm_event *event;
  if (rdma_get_cm_event(channel, &event) != 0) exit(2);
  printf("%s\n", rdma_event_str(event->event));
  if (data != NULL) strncpy(data, event->param.conn.private_data, 15);
  struct rdma_cm_id *id = event->id;
  rdma_ack_cm_event(event);
  return id;
}

int main(int argc, char **argv) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  struct rdma_cm_id *listener, *id;
  struct sockaddr_in address = {.sin_family = AF_INET};
  struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC};
  char data[16] = {0};
  if (argc != 3 || strcmp(argv[1], "--port") != 0 || channel == NULL) return 2;
  address.sin_port = htons((unsigned short)atoi(argv[2]));
  attr.cap.max_send_wr = attr.cap.max_recv_wr = attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0 ||
      rdma_bind_addr(listener, (struct sockaddr *)&address) != 0 || rdma_listen(listener, 1) != 0)
    return 3;
  id = next(channel, data);
  if (rdma_create_qp(id, NULL, &attr) != 0 || rdma_accept(id, NULL) != 0) return 4;
  next(channel, NULL);
  next(channel, NULL);
  printf("it said %s\n", data);
  return 0; /* the kernel cleans up */
}
