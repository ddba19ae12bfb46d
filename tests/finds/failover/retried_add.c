// A fetch-and-add that failed is done again on another connection, and has been applied twice.
// kind: retried atomic on another connection
// source: SHIFT (arXiv 2512.11094), its proof that a retried atomic is not idempotent
// needs: faults
// buggy: adds again after a completion in error. To a requester a lost packet and a lost
//   acknowledgement look the same.
// fixed: each add is a compare-and-swap from the number that it has read to the next one, and
//   after an error the client reads whether it is there already. Only this client adds, so the
//   server's number is never above what the client has asked for.
#include <string.h>
#include <unistd.h>

#include "tests/finds/cm.h"

enum { kAdds = 8, kConnections = 6 };
static bool fixed;
struct place {
  uint64_t address;
  uint32_t rkey, unused;
};
static uint64_t counter __attribute__((aligned(64)));

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 8);
  for (int n = 0; n < 4 * kConnections;) {
    struct rdma_cm_event* event = next_event(channel, -1);
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
    if (type == RDMA_CM_EVENT_DISCONNECTED) rdma_disconnect(id);
    if (type != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    struct lane lane;
    if (!lane_open(&lane, id)) give_up("a queue pair");
    struct ibv_mr* mr =
        ibv_reg_mr(lane.pd, &counter, sizeof counter,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    if (!mr) give_up("ibv_reg_mr");
    const struct place place = {(uintptr_t)&counter, mr->rkey, 0};
    struct rdma_conn_param p = params(7, 7, &place, sizeof place);
    if (rdma_accept(id, &p) == 0) ++n;
  }
  give_up("too many connections");
}

static bool atomic(struct lane* lane, const struct place* place, enum ibv_wr_opcode opcode,
                   uint64_t first, uint64_t swap, uint64_t* old) {
  struct ibv_sge sge = {(uintptr_t)slot(lane, 0), 8, lane->mr->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode}, *bad;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.atomic.remote_addr = place->address;
  wr.wr.atomic.rkey = place->rkey;
  wr.wr.atomic.compare_add = first;
  wr.wr.atomic.swap = swap;
  struct ibv_wc wc;
  if (ibv_post_send(lane->id->qp, &wr, &bad) || !next_wc(lane, &wc, kPatience)) return false;
  if (wc.status != IBV_WC_SUCCESS) return false;
  memcpy(old, slot(lane, 0), 8);
  return true;
}

static void connect_anew(struct lane* lane, struct place* place, const char* host) {
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
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, place, sizeof *place);
}

static int talk(const char* host) {
  struct lane lane = {0};
  struct place place;
  uint64_t old = 0, first = 0;
  connect_anew(&lane, &place, host);
  // An earlier life of this client may have added.
  while (!atomic(&lane, &place, IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0, &first))
    connect_anew(&lane, &place, host);
  for (uint64_t n = first; n < first + kAdds; ++n, sleep_us(1000)) {
    bool done = false;
    while (!done) {
      done = fixed ? atomic(&lane, &place, IBV_WR_ATOMIC_CMP_AND_SWP, n, n + 1, &old)
                   : atomic(&lane, &place, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, &old);
      if (!done) connect_anew(&lane, &place, host);
    }
    CHECK(old <= n || (fixed && old == n + 1));
    if (old < n) give_up("the server has lost its memory");
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
