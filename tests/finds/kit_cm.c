#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>

#include "tests/finds/kit.h"

enum { kHandshakeMs = 100000, kResolveMs = 2000 };

struct rdma_event_channel* cm_channel(void) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  CHECK(channel != NULL);
  return channel;
}

struct rdma_cm_id* cm_listen(struct rdma_event_channel* channel, int port) {
  struct rdma_cm_id* id;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  CHECK_OK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  CHECK_OK(rdma_bind_addr(id, (struct sockaddr*)&address));
  CHECK_OK(rdma_listen(id, 8));
  return id;
}

struct rdma_cm_event* cm_next(struct rdma_event_channel* channel, unsigned milliseconds) {
  struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
  if (poll(&waiting, 1, (int)milliseconds) == 0) return NULL;
  struct rdma_cm_event* event;
  CHECK_OK(rdma_get_cm_event(channel, &event));
  return event;
}

struct rdma_cm_id* cm_expect(struct rdma_event_channel* channel, enum rdma_cm_event_type type) {
  struct rdma_cm_event* event = cm_next(channel, kHandshakeMs);
  if (event == NULL) fail_at(__FILE__, __LINE__, rdma_event_str(type));
  if (event->event != type) {
    char text[200];
    snprintf(text, sizeof text, "event %s, status %d, where %s is expected",
             rdma_event_str(event->event), event->status, rdma_event_str(type));
    fail_at(__FILE__, __LINE__, text);
  }
  struct rdma_cm_id* id = event->id;
  CHECK_OK(rdma_ack_cm_event(event));
  return id;
}

struct rdma_cm_id* cm_resolve(struct rdma_event_channel* channel, const char* host, int port) {
  const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found = NULL;
  CHECK_EQ(getaddrinfo(host, NULL, &hints, &found), 0);
  ((struct sockaddr_in*)found->ai_addr)->sin_port = htons((uint16_t)port);
  struct rdma_cm_id* id;
  CHECK_OK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  CHECK_OK(rdma_resolve_addr(id, NULL, found->ai_addr, kResolveMs));
  freeaddrinfo(found);
  cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  CHECK_OK(rdma_resolve_route(id, kResolveMs));
  cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
  return id;
}

static struct ibv_cq* cm_cq(struct ibv_cq* given, const struct end* end, unsigned entries) {
  if (given != NULL) return given;
  struct ibv_cq* cq =
      ibv_create_cq(end->device.context, entries != 0 ? (int)entries : 128, NULL, end->channel, 0);
  CHECK(cq != NULL);
  return cq;
}

struct end cm_end(struct rdma_cm_id* id, struct options options) {
  struct end end = {.socket = -1, .id = id};
  end.device.context = id->verbs;
  end.device.pd = options.device != NULL ? options.device->pd : ibv_alloc_pd(id->verbs);
  CHECK(end.device.pd != NULL);
  end.channel =
      options.channel != NULL ? options.channel : ibv_create_comp_channel(end.device.context);
  CHECK(end.channel != NULL);
  end.send_cq = cm_cq(options.send_cq, &end, options.entries);
  end.recv_cq = cm_cq(options.one_cq ? end.send_cq : options.recv_cq, &end, options.entries);
  struct ibv_qp_init_attr init = {
      .send_cq = end.send_cq,
      .recv_cq = end.recv_cq,
      .srq = options.srq,
      .qp_type = IBV_QPT_RC,
      .sq_sig_all = options.signal_all,
      .cap = {.max_send_wr = options.sends != 0 ? options.sends : 32,
              .max_recv_wr = options.receives != 0 ? options.receives : 32,
              .max_send_sge = 2,
              .max_recv_sge = 1,
              .max_inline_data = options.inline_bytes}};
  CHECK_OK(rdma_create_qp(id, end.device.pd, &init));
  end.qp = id->qp;
  return end;
}

struct rdma_conn_param cm_parameters(void) {
  return (struct rdma_conn_param){
      .responder_resources = 4, .initiator_depth = 4, .retry_count = 7, .rnr_retry_count = 7};
}

struct end cm_accept(struct rdma_event_channel* channel, struct options options) {
  struct end end = cm_end(cm_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST), options);
  struct rdma_conn_param parameters = cm_parameters();
  CHECK_OK(rdma_accept(end.id, &parameters));
  cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED);
  return end;
}

struct end cm_connect(struct rdma_event_channel* channel, const char* host, int port,
                      struct options options) {
  struct end end = cm_end(cm_resolve(channel, host, port), options);
  struct rdma_conn_param parameters = cm_parameters();
  CHECK_OK(rdma_connect(end.id, &parameters));
  cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED);
  return end;
}

void cm_destroy(struct end* end) {
  rdma_destroy_qp(end->id);
  if (end->recv_cq != end->send_cq) CHECK_OK(ibv_destroy_cq(end->recv_cq));
  CHECK_OK(ibv_destroy_cq(end->send_cq));
  CHECK_OK(ibv_destroy_comp_channel(end->channel));
  CHECK_OK(ibv_dealloc_pd(end->device.pd));
  CHECK_OK(rdma_destroy_id(end->id));
}
