#include "tests/finds/cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

void give_up(const char* why) {
  fprintf(stderr, "gives up: %s, errno %d\n", why, errno);
  _exit(kGaveUp);
}

void broken(const char* why) {
  fprintf(stderr, "BROKEN: %s\n", why);
  _exit(kBroken);
}

int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void sleep_us(int64_t us) {
  struct timespec t = {us / 1000000, us % 1000000 * 1000};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR) continue;
}

bool readable(int fd, int ms) {
  const int64_t until = now_us() + (int64_t)ms * 1000;
  for (;;) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int64_t left = ms < 0 ? -1 : (until - now_us() + 999) / 1000;
    const int n = poll(&p, 1, ms < 0 ? -1 : left < 0 ? 0 : (int)left);
    if (n == 1) return true;
    if (n == 0) return false;
    if (errno != EINTR) give_up("poll");
  }
}

// librdmacm leaves out a request whose id it cannot make, so that a channel which was readable has
// no event: the descriptor does not block.
struct rdma_cm_event* next_event(struct rdma_event_channel* channel, int ms) {
  const int64_t until = now_us() + (int64_t)ms * 1000;
  for (;;) {
    struct rdma_cm_event* event;
    const int64_t left = ms < 0 ? -1 : (until - now_us() + 999) / 1000;
    if (!readable(channel->fd, ms < 0 ? -1 : left < 0 ? 0 : (int)left)) return NULL;
    if (rdma_get_cm_event(channel, &event) == 0) return event;
    if (errno != EAGAIN && errno != EINTR) give_up("rdma_get_cm_event");
  }
}

int next_type(struct rdma_event_channel* channel, int ms) {
  struct rdma_cm_event* event = next_event(channel, ms);
  if (!event) return -1;
  const int type = (int)event->event;
  rdma_ack_cm_event(event);
  return type;
}

struct rdma_event_channel* open_channel(void) {
  struct rdma_event_channel* channel = rdma_create_event_channel();
  if (!channel) give_up("rdma_create_event_channel");
  fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
  return channel;
}

struct rdma_cm_id* listen_at(struct rdma_event_channel* channel, int port, int backlog) {
  struct rdma_cm_id* id;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  NEED(rdma_bind_addr(id, (struct sockaddr*)&at));
  NEED(rdma_listen(id, backlog));
  return id;
}

bool lane_open_in(struct lane* lane, struct rdma_cm_id* id, struct ibv_pd* pd) {
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                     IBV_ACCESS_REMOTE_ATOMIC;
  struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC};
  attr.cap = (struct ibv_qp_cap){
      .max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 1, .max_recv_sge = 1};
  lane->id = id;
  if (!(lane->memory = aligned_alloc(64, kSlot * kSlots))) return false;
  memset(lane->memory, 0, kSlot * kSlots);
  if (!(lane->comp = ibv_create_comp_channel(id->verbs))) return false;
  if (!(lane->cq = ibv_create_cq(id->verbs, 128, NULL, lane->comp, 0))) return false;
  if (!(lane->mr = ibv_reg_mr(pd, lane->memory, kSlot * kSlots, access))) return false;
  fcntl(lane->comp->fd, F_SETFL, fcntl(lane->comp->fd, F_GETFL) | O_NONBLOCK);
  attr.send_cq = attr.recv_cq = lane->cq;
  return rdma_create_qp(id, pd, &attr) == 0;
}

bool lane_open(struct lane* lane, struct rdma_cm_id* id) {
  *lane = (struct lane){.id = id, .pd = ibv_alloc_pd(id->verbs)};
  return lane->pd && lane_open_in(lane, id, lane->pd);
}

void lane_close(struct lane* lane) {
  if (lane->id && lane->id->qp) rdma_destroy_qp(lane->id);
  if (lane->mr) ibv_dereg_mr(lane->mr);
  if (lane->cq) ibv_destroy_cq(lane->cq);
  if (lane->comp) ibv_destroy_comp_channel(lane->comp);
  if (lane->pd) ibv_dealloc_pd(lane->pd);
  if (lane->id) rdma_destroy_id(lane->id);
  free(lane->memory);
  *lane = (struct lane){0};
}

char* slot(struct lane* lane, int n) {
  return lane->memory + n * kSlot;
}

int post_recv(struct lane* lane, int n) {
  struct ibv_sge sge = {(uintptr_t)slot(lane, n), kSlot, lane->mr->lkey};
  struct ibv_recv_wr wr = {.wr_id = (uint64_t)n, .sg_list = &sge, .num_sge = 1}, *bad;
  return ibv_post_recv(lane->id->qp, &wr, &bad);
}

int post_send(struct lane* lane, int n) {
  return post_rdma(lane, n, kSlot, IBV_WR_SEND, 0, 0);
}

int post_rdma(struct lane* lane, int n, size_t bytes, enum ibv_wr_opcode opcode, uint64_t address,
              uint32_t rkey) {
  struct ibv_sge sge = {(uintptr_t)slot(lane, n), (uint32_t)bytes, lane->mr->lkey};
  struct ibv_send_wr wr = {.wr_id = 100 + (uint64_t)n, .sg_list = &sge, .num_sge = bytes ? 1 : 0},
                     *bad;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = address;
  wr.wr.rdma.rkey = rkey;
  return ibv_post_send(lane->id->qp, &wr, &bad);
}

// An event is taken before the queue is armed, so that the descriptor is not readable for what has
// been polled.
bool next_wc(struct lane* lane, struct ibv_wc* wc, int ms) {
  const int64_t until = now_us() + (int64_t)ms * 1000;
  for (;;) {
    int n = ibv_poll_cq(lane->cq, 1, wc);
    if (n == 0) {
      struct ibv_cq* cq;
      void* context;
      while (ibv_get_cq_event(lane->comp, &cq, &context) == 0) ibv_ack_cq_events(cq, 1);
      if (ibv_req_notify_cq(lane->cq, 0) != 0) give_up("ibv_req_notify_cq");
      n = ibv_poll_cq(lane->cq, 1, wc);
    }
    if (n < 0) give_up("ibv_poll_cq");
    if (n == 1) return true;
    const int64_t left = ms < 0 ? -1 : (until - now_us() + 999) / 1000;
    if (ms >= 0 && left <= 0) return false;
    if (!readable(lane->comp->fd, (int)left)) return false;
  }
}

void wait_any(struct rdma_event_channel* channel, struct lane* lanes, int count, int ms) {
  struct pollfd fds[17] = {{.fd = channel->fd, .events = POLLIN}};
  for (int i = 0; i < count && i < 16; ++i)
    fds[i + 1] = (struct pollfd){.fd = lanes[i].comp ? lanes[i].comp->fd : -1, .events = POLLIN};
  poll(fds, (nfds_t)count + 1, ms);
}

struct ibv_wc good_wc(struct lane* lane) {
  struct ibv_wc wc;
  if (!next_wc(lane, &wc, kPatience)) give_up("no completion");
  if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
  return wc;
}

void unanswered(struct lane* lane, const char* why) {
  struct ibv_wc wc;
  if (post_rdma(lane, 0, 0, IBV_WR_RDMA_WRITE, 0, 0) != 0) give_up("the connection is over");
  while (next_wc(lane, &wc, 60000)) {
    if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
    if (wc.opcode == IBV_WC_RDMA_WRITE) broken(why);
  }
  give_up("no completion");
}

struct ibv_wc answer(struct lane* lane, const char* why) {
  struct ibv_wc wc;
  while (next_wc(lane, &wc, 60000)) {
    if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
    if (wc.opcode & IBV_WC_RECV) return wc;
  }
  unanswered(lane, why);
}

bool resolve(struct rdma_cm_id* id, const char* host, int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, host, &to.sin_addr);
  if (rdma_resolve_addr(id, NULL, (struct sockaddr*)&to, 2000) != 0) return false;
  if (next_type(id->channel, kPatience) != RDMA_CM_EVENT_ADDR_RESOLVED) return false;
  if (rdma_resolve_route(id, 2000) != 0) return false;
  return next_type(id->channel, kPatience) == RDMA_CM_EVENT_ROUTE_RESOLVED;
}

struct rdma_conn_param params(int retries, int rnr_retries, const void* data, size_t bytes) {
  struct rdma_conn_param p = {.private_data = data, .private_data_len = (uint8_t)bytes};
  p.responder_resources = p.initiator_depth = 4;
  p.retry_count = (uint8_t)retries;
  p.rnr_retry_count = (uint8_t)rnr_retries;
  return p;
}

struct rdma_cm_id* expect_event(struct rdma_event_channel* channel, enum rdma_cm_event_type type,
                                void* data, size_t bytes) {
  struct rdma_cm_event* event = next_event(channel, kPatience);
  if (!event) give_up("no event");
  struct rdma_cm_id* id = event->id;
  if (event->event != type) {
    fprintf(stderr, "%s status %d\n", rdma_event_str(event->event), event->status);
    give_up("another event");
  }
  const size_t there = event->param.conn.private_data_len;
  if (data) memset(data, 0, bytes);
  if (data && event->param.conn.private_data)
    memcpy(data, event->param.conn.private_data, there < bytes ? there : bytes);
  rdma_ack_cm_event(event);
  return id;
}

void dial(struct lane* lane, struct rdma_event_channel* channel, const char* host, int port,
          const void* data, size_t bytes) {
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, port)) give_up("the address is not resolved");
  if (!lane_open(lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, data, bytes);
  NEED(rdma_connect(id, &p));
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
}

void take_in(struct lane* lane, struct rdma_event_channel* channel, int receives) {
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(lane, id)) give_up("a queue pair");
  for (int i = 0; i < receives; ++i) NEED(post_recv(lane, i));
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
}

void await_end(struct rdma_event_channel* channel) {
  int type;
  do type = next_type(channel, kPatience);
  while (type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_ADDR_CHANGE ||
         type == RDMA_CM_EVENT_UNREACHABLE || type == RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

int by_role(int argc, char** argv, bool* fixed, int (*server)(void),
            int (*client)(const char* host)) {
  if (argc < 3) return 2;
  *fixed = strcmp(argv[1], "fixed") == 0;
  if (strcmp(argv[2], "server") == 0) return server();
  return argc < 4 ? 2 : client(argv[3]);
}

int tcp_listen(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  NEED(bind(fd, (struct sockaddr*)&at, sizeof at));
  NEED(listen(fd, 16));
  return fd;
}

int tcp_dial(const char* host, int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  inet_pton(AF_INET, host, &to.sin_addr);
  const int64_t until = now_us() + 1000000;
  while (now_us() < until) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr*)&to, sizeof to) == 0) return fd;
    close(fd);
    sleep_us(20000);
  }
  return -1;
}

int tcp_accept(int listener) {
  if (!readable(listener, kPatience)) give_up("nobody comes by TCP");
  const int fd = accept(listener, NULL, NULL);
  if (fd < 0) give_up("accept");
  return fd;
}

void tcp_write(int fd, const void* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = send(fd, (const char*)data + done, bytes - done, MSG_NOSIGNAL);
    if (n <= 0) give_up("send");
    done += (size_t)n;
  }
}

void tcp_read(int fd, void* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    if (!readable(fd, kPatience)) give_up("silence on TCP");
    const ssize_t n = read(fd, (char*)data + done, bytes - done);
    if (n <= 0) give_up("read");
    done += (size_t)n;
  }
}
