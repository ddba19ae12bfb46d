// A request by SEND is repeated on another connection after its acknowledgement was lost, and
// executed twice.
// kind: retried SEND on another connection
// source: https://github.com/NVIDIA/nccl/issues/2157 (failover between ports); SHIFT (arXiv
//   2512.11094)
// needs: faults
// buggy: the server executes what it receives.
// fixed: each request has a number, and the server executes a number once; its answer is repeated.
//   A request adds 1 to an account, and its answer is the account.
#include <string.h>
#include <time.h>

#include "tests/finds/cm.h"

enum { kRequests = 8, kConnections = 6 };
static bool fixed;
struct message {
  uint32_t number, account;
  uint64_t life;  // of the client
};

// One connection at a time; false: the last request has been executed.
static void serve_one(struct lane* lane, struct message* last) {
  struct ibv_wc wc;
  while (next_wc(lane, &wc, 2000) && wc.status == IBV_WC_SUCCESS) {
    if (!(wc.opcode & IBV_WC_RECV)) continue;
    struct message m;
    memcpy(&m, slot(lane, (int)wc.wr_id), sizeof m);
    if (m.life != last->life) *last = (struct message){.life = m.life};  // it has begun anew
    if (!fixed || m.number > last->number)
      *last = (struct message){m.number, last->account + 1, m.life};
    memcpy(slot(lane, 16 + (int)wc.wr_id), last, sizeof *last);
    if (post_recv(lane, (int)wc.wr_id) || post_send(lane, 16 + (int)wc.wr_id)) return;
  }
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  struct message last = {0};
  listen_at(channel, kPort, 8);
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, -1);
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
    if (type != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    struct lane lane;
    if (!lane_open(&lane, id)) give_up("a queue pair");
    for (int i = 0; i < 8; ++i) NEED(post_recv(&lane, i));
    struct rdma_conn_param p = params(7, 7, NULL, 0);
    if (rdma_accept(id, &p) == 0) serve_one(&lane, &last);
    rdma_disconnect(id);
    lane_close(&lane);
  }
}

static void connect_anew(struct lane* lane, const char* host) {
  static int connections;
  struct rdma_cm_id* id;
  if (lane->id) {
    rdma_disconnect(lane->id);
    lane_close(lane);
    sleep_us(30000);
  }
  if (++connections > kConnections) give_up("no connection lasts");
  struct rdma_event_channel* channel = open_channel();
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(lane, id)) give_up("a queue pair");
  uint8_t timeout = 12;  // 17 ms: it has somewhere else to go
  NEED(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout));
  struct rdma_conn_param p = params(1, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
}

static bool call(struct lane* lane, struct message* m) {
  struct ibv_wc wc;
  memcpy(slot(lane, 16), m, sizeof *m);
  if (post_recv(lane, 0) || post_send(lane, 16)) return false;
  while (next_wc(lane, &wc, 500) && wc.status == IBV_WC_SUCCESS) {
    if (!(wc.opcode & IBV_WC_RECV)) continue;
    memcpy(m, slot(lane, 0), sizeof *m);
    return true;
  }
  return false;
}

static int talk(const char* host) {
  struct lane lane = {0};
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  const uint64_t life = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
  connect_anew(&lane, host);
  for (uint32_t n = 1; n <= kRequests; ++n) {
    struct message m = {n, 0, life};
    while (!call(&lane, &m)) connect_anew(&lane, host);
    CHECK(m.account <= n);
    if (m.account < n) give_up("the server has lost its memory");
    sleep_us(1000);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
