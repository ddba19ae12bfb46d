// A queue pair is moved to RESET to get rid of a dead peer, and its outstanding work never
// completes.
// kind: hang in teardown, of work thrown away by RESET
// source: https://github.com/kvcache-ai/Mooncake/pull/2427
// needs: faults
// buggy: moves the queue pair to RESET when a WRITE is late, and waits for the completions of all
//   others.
// fixed: moves it to ERR, which flushes them.
#include <string.h>

#include "tests/finds/cm.h"

enum { kBlocks = 16, kWindow = 4, kLate = 20 };
static bool fixed;
struct place {
  uint64_t address;
  uint32_t rkey, unused;
};

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  struct lane lane;
  if (!lane_open(&lane, id)) give_up("a queue pair");
  const struct place place = {(uintptr_t)lane.memory, lane.mr->rkey, 0};
  struct rdma_conn_param p = params(7, 7, &place, sizeof place);
  NEED(rdma_accept(id, &p));
  await_end(channel);
  rdma_disconnect(id);
  lane_close(&lane);
  return 0;
}

static void abandon(struct lane* lane, int outstanding) {
  struct ibv_qp_attr attr = {.qp_state = fixed ? IBV_QPS_ERR : IBV_QPS_RESET};
  struct ibv_wc wc;
  NEED(ibv_modify_qp(lane->id->qp, &attr, IBV_QP_STATE));
  for (int n = 0; n < outstanding; ++n) next_wc(lane, &wc, -1);  // its buffer is free
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  struct place place;
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(&lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED, &place, sizeof place);
  for (int posted = 0, done = 0; done < kBlocks; ++done) {
    struct ibv_wc wc;
    for (; posted < kBlocks && posted < done + kWindow; ++posted)
      NEED(post_rdma(&lane, posted, kSlot, IBV_WR_RDMA_WRITE, place.address, place.rkey));
    if (!next_wc(&lane, &wc, kLate)) {
      abandon(&lane, posted - done);
      lane_close(&lane);
      give_up("the server is slow");
    }
    if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
  }
  rdma_disconnect(id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
