// The holder of a lock crashes, and the others wait for ever.
// kind: lock holder that crashed
// source: https://github.com/dmemsys/SMART (locks in disaggregated memory name no owner); Sherman,
//   SIGMOD 2022, section 6
// needs: faults, instants
// buggy: who does not get the lock tries again, without an end.
// fixed: after 200 ms it has the server take the holder's connection away, and the lock from who
//   held it. The lock is a word in the server's memory, 0 or the number of who holds it.
#include <string.h>

#include "tests/finds/cm.h"

enum { kTurns = 20, kPatient = 200000, kForEver = 20000000 };
static bool fixed;
struct place {
  uint64_t address;
  uint32_t rkey, number;
};
static volatile uint64_t lock_word __attribute__((aligned(64)));

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  static struct lane lanes[8];
  int count = 0;
  listen_at(channel, kPort, 8);
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, 0);
    if (event) {
      const enum rdma_cm_event_type type = event->event;
      struct rdma_cm_id* id = event->id;
      rdma_ack_cm_event(event);
      if (type == RDMA_CM_EVENT_DEVICE_REMOVAL || count == 8) give_up("the device is gone");
      if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
        struct lane* lane = &lanes[count];
        if (!lane_open(lane, id)) give_up("a queue pair");
        struct ibv_mr* mr = ibv_reg_mr(lane->pd, (void*)&lock_word, 8,
                                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
        if (!mr) give_up("ibv_reg_mr");
        for (int i = 0; i < 8; ++i) NEED(post_recv(lane, i));
        const struct place place = {(uintptr_t)&lock_word, mr->rkey, (uint32_t)count + 1};
        struct rdma_conn_param p = params(7, 7, &place, sizeof place);
        if (rdma_accept(id, &p) == 0) ++count;
      }
    }
    for (int n = 0; n < count; ++n) {
      struct ibv_wc wc;
      while (next_wc(&lanes[n], &wc, 0)) {
        if (!lanes[n].id->qp) continue;
        uint64_t holder;
        if (wc.status != IBV_WC_SUCCESS || wc.opcode != IBV_WC_RECV) continue;
        memcpy(&holder, slot(&lanes[n], (int)wc.wr_id), 8);
        if (holder == 0 || holder > (uint64_t)count || holder == (uint64_t)n + 1) continue;
        if (lanes[holder - 1].id->qp) rdma_destroy_qp(lanes[holder - 1].id);
        if (lock_word == holder) lock_word = 0;
        post_recv(&lanes[n], (int)wc.wr_id);
      }
    }
    wait_any(channel, lanes, count, -1);
  }
}

static uint64_t swap(struct lane* lane, const struct place* place, uint64_t expected,
                     uint64_t wanted) {
  struct ibv_sge sge = {(uintptr_t)slot(lane, 0), 8, lane->mr->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP},
                     *bad;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.atomic.remote_addr = place->address;
  wr.wr.atomic.rkey = place->rkey;
  wr.wr.atomic.compare_add = expected;
  wr.wr.atomic.swap = wanted;
  NEED(ibv_post_send(lane->id->qp, &wr, &bad));
  while (good_wc(lane).opcode != IBV_WC_COMP_SWAP) continue;
  uint64_t old;
  memcpy(&old, slot(lane, 0), 8);
  return old;
}

static void take(struct lane* lane, const struct place* place) {
  const int64_t since = now_us();
  int64_t told = since;
  for (int64_t delay = 50;; delay = delay < 100000 ? 2 * delay : delay) {
    const uint64_t holder = swap(lane, place, 0, place->number);
    if (holder == 0) return;
    CHECK(now_us() - since < kForEver);
    if (fixed && now_us() - told > kPatient) {
      told = now_us();
      memcpy(slot(lane, 1), &holder, 8);
      NEED(post_send(lane, 1));
    }
    sleep_us(delay);
  }
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
  for (int turn = 0; turn < kTurns; ++turn) {
    take(&lane, &place);
    sleep_us(300);
    if (swap(&lane, &place, place.number, 0) != place.number) give_up("the lock was taken away");
    sleep_us(300);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
