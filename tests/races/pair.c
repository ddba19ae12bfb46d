#include "tests/races/pair.h"

#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <time.h>

enum { kPort = 7471, kTellId = 1000, kHearId = 1001, kTries = 200, kPauseMs = 20, kKeepMs = 300 };

uint64_t *source, *inbox, *other, *target;

struct Terms {
  uint64_t address;
  uint32_t key;
} __attribute__((packed));

static struct rdma_event_channel* channel;
static struct rdma_cm_id *listener, *id;
static struct ibv_srq* shared;
static struct ibv_mr *source_mr, *inbox_mr, *other_mr, *target_mr, *word_mr;
static uint64_t* words; /* of tell() and hear() */
static struct Terms peer;

static void pause_a_moment(void) {
  poll(0, 0, kPauseMs);
}

static struct rdma_cm_event* next(void) {
  struct rdma_cm_event* event;
  MUST(rdma_get_cm_event(channel, &event) == 0);
  return event;
}

static void expect(enum rdma_cm_event_type type) {
  struct rdma_cm_event* event = next();
  MUST(event->event == type);
  if (type == RDMA_CM_EVENT_CONNECT_REQUEST) id = event->id;
  if (type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_ESTABLISHED) {
    if (event->param.conn.private_data_len >= sizeof peer)
      memcpy(&peer, event->param.conn.private_data, sizeof peer);
  }
  MUST(rdma_ack_cm_event(event) == 0);
}

static uint64_t* make(struct ibv_mr** mr) {
  uint64_t* at = calloc(1, kBytes);
  *mr = ibv_reg_mr(id->pd, at, kBytes,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                       IBV_ACCESS_REMOTE_ATOMIC);
  MUST(*mr != 0);
  return at;
}

static void prepare(int with_shared_queue) {
  struct ibv_qp_init_attr attr;
  struct ibv_srq_init_attr queue;
  memset(&attr, 0, sizeof attr);
  memset(&queue, 0, sizeof queue);
  queue.attr.max_wr = 16;
  queue.attr.max_sge = 1;
  if (with_shared_queue) MUST((shared = ibv_create_srq(id->pd, &queue)) != 0);
  attr.qp_type = IBV_QPT_RC;
  attr.srq = shared;
  attr.cap.max_send_wr = attr.cap.max_recv_wr = 32;
  attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
  attr.cap.max_inline_data = 64;
  MUST(rdma_create_qp(id, id->pd, &attr) == 0);
  source = make(&source_mr);
  inbox = make(&inbox_mr);
  other = make(&other_mr);
  target = make(&target_mr);
  words = make(&word_mr);
}

static void resolve(const struct sockaddr_in* at) {
  MUST(rdma_create_id(channel, &id, 0, RDMA_PS_TCP) == 0);
  MUST(rdma_resolve_addr(id, 0, (struct sockaddr*)at, 2000) == 0);
  expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  MUST(rdma_resolve_route(id, 2000) == 0);
  expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
}

void connect_pair(int is_client, const char* address, int with_shared_queue) {
  struct sockaddr_in at;
  struct rdma_conn_param param;
  struct Terms own;
  memset(&at, 0, sizeof at);
  at.sin_family = AF_INET;
  at.sin_port = htons(kPort);
  MUST(inet_pton(AF_INET, address, &at.sin_addr) == 1);
  MUST((channel = rdma_create_event_channel()) != 0);
  memset(&param, 0, sizeof param);
  param.responder_resources = param.initiator_depth = 4;
  param.retry_count = param.rnr_retry_count = 7;
  param.private_data = &own;
  param.private_data_len = sizeof own;
  if (!is_client) {
    MUST(rdma_create_id(channel, &listener, 0, RDMA_PS_TCP) == 0);
    MUST(rdma_bind_addr(listener, (struct sockaddr*)&at) == 0);
    MUST(rdma_listen(listener, 4) == 0);
    expect(RDMA_CM_EVENT_CONNECT_REQUEST);
    prepare(with_shared_queue);
    own = (struct Terms){(uintptr_t)target, target_mr->rkey};
    MUST(rdma_accept(id, &param) == 0);
    expect(RDMA_CM_EVENT_ESTABLISHED);
    return;
  }
  for (int i = 0; i < kTries; ++i) { /* until the server listens */
    struct rdma_cm_event* event;
    enum rdma_cm_event_type type;
    resolve(&at);
    prepare(with_shared_queue);
    own = (struct Terms){(uintptr_t)target, target_mr->rkey};
    MUST(rdma_connect(id, &param) == 0);
    event = next();
    type = event->event;
    if (type == RDMA_CM_EVENT_ESTABLISHED)
      memcpy(&peer, event->param.conn.private_data, sizeof peer);
    MUST(rdma_ack_cm_event(event) == 0);
    if (type == RDMA_CM_EVENT_ESTABLISHED) return;
    rdma_destroy_qp(id);
    MUST(rdma_destroy_id(id) == 0);
    shared = 0;
    pause_a_moment();
  }
  MUST(!"there is no server");
}

void destroy_queue_pair(void) {
  rdma_destroy_qp(id);
}

void disconnect_pair(void) {
  (void)rdma_disconnect(id);
}

/* --- work ------------------------------------------------------------------------------------ */

static struct ibv_mr* region_of(const void* at) {
  const uintptr_t address = (uintptr_t)at;
  struct ibv_mr* all[] = {source_mr, inbox_mr, other_mr, target_mr, word_mr};
  for (int i = 0; i < 5; ++i) {
    const uintptr_t begin = (uintptr_t)all[i]->addr;
    if (address >= begin && address < begin + kBytes) return all[i];
  }
  MUST(!"it is not registered");
  return 0;
}

static void post(uint64_t wr_id, void* at, unsigned bytes, enum ibv_wr_opcode opcode, int flags,
                 unsigned offset) {
  struct ibv_sge piece = {(uintptr_t)at, bytes, region_of(at)->lkey};
  struct ibv_send_wr request, *bad;
  memset(&request, 0, sizeof request);
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = (unsigned)flags;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
    request.wr.atomic.remote_addr = peer.address;
    request.wr.atomic.rkey = peer.key;
    request.wr.atomic.compare_add = 1;
    request.wr.atomic.swap = 2;
  } else {
    request.wr.rdma.remote_addr = peer.address + offset;
    request.wr.rdma.rkey = peer.key;
  }
  MUST(ibv_post_send(id->qp, &request, &bad) == 0);
}

void post_send(uint64_t wr_id, void* at, unsigned bytes, int flags) {
  post(wr_id, at, bytes, IBV_WR_SEND, flags, 0);
}

void post_write(uint64_t wr_id, void* at, unsigned bytes, unsigned offset) {
  post(wr_id, at, bytes, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, offset);
}

void post_write_with_imm(uint64_t wr_id, void* at, unsigned bytes) {
  post(wr_id, at, bytes, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SIGNALED, 0);
}

void post_read(uint64_t wr_id, void* at, unsigned bytes, unsigned offset) {
  post(wr_id, at, bytes, IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, offset);
}

void post_fetch_add(uint64_t wr_id, void* result) {
  post(wr_id, result, 8, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_SEND_SIGNALED, 0);
}

void post_compare_swap(uint64_t wr_id, void* result) {
  post(wr_id, result, 8, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_SEND_SIGNALED, 0);
}

void post_receive(uint64_t wr_id, void* at, unsigned bytes) {
  struct ibv_sge piece = {(uintptr_t)at, bytes, region_of(at)->lkey};
  struct ibv_recv_wr request, *bad;
  memset(&request, 0, sizeof request);
  request.wr_id = wr_id;
  request.sg_list = &piece;
  request.num_sge = 1;
  if (shared != 0) {
    MUST(ibv_post_srq_recv(shared, &request, &bad) == 0);
  } else {
    MUST(ibv_post_recv(id->qp, &request, &bad) == 0);
  }
}

static void wait_for(struct ibv_cq* cq, uint64_t wr_id) {
  struct ibv_wc completion;
  do {
    int got = 0;
    while (got == 0) got = ibv_poll_cq(cq, 1, &completion);
    MUST(got == 1 && completion.status == IBV_WC_SUCCESS);
  } while (completion.wr_id != wr_id);
}

void wait_send(uint64_t wr_id) {
  wait_for(id->send_cq, wr_id);
}

void wait_receive(uint64_t wr_id) {
  wait_for(id->recv_cq, wr_id);
}

void tell(void) {
  post_send(kTellId, &words[0], 8, IBV_SEND_SIGNALED);
  wait_send(kTellId);
}

void hear(void) {
  post_receive(kHearId, &words[1], 8); /* the peer repeats what came too early */
  wait_receive(kHearId);
}

/* --- time ------------------------------------------------------------------------------------ */

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void keep(void (*what)(void)) {
  const long end = now_ms() + kKeepMs;
  while (now_ms() < end) what();
}

void repeat(void (*what)(void)) {
  for (int i = 0; i < 10; ++i) {
    what();
    pause_a_moment();
  }
}
