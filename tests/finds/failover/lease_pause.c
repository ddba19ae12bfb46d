// A lease expires while its holder is paused between looking at it and writing.
// kind: lease that expires during a pause (split brain)
// source: M. Kleppmann, "How to do distributed locking" (2016), with HBase's bug; Gray and
//   Cheriton, SOSP 1989
// needs: faults, instants
// buggy: the server grants the lease to the next one once it has expired.
// fixed: takes the connection of the last holder away first, so that its late WRITEs are refused.
//   A holder renews every 4 ms, and writes as long as less than 20 ms have passed since it asked;
//   the server waits for 40 ms. The second holder finds nobody else's writing.
#include <string.h>

#include "tests/finds/cm.h"

enum { kLease = 40000, kMargin = 20000, kRenewal = 4000, kRounds = 300, kMine = 40 };
static bool fixed;
struct place {
  uint64_t address;
  uint32_t rkey, granted;
};
static char page[4096] __attribute__((aligned(4096)));

// Requests are empty messages; the answer says whether the lease is granted.
static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  static struct lane lanes[8];
  struct ibv_mr* mrs[8];
  int count = 0, holder = -1;
  int64_t renewed = 0;
  listen_at(channel, kPort, 8);
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, 0);
    if (event) {
      const enum rdma_cm_event_type type = event->event;
      struct rdma_cm_id* id = event->id;
      rdma_ack_cm_event(event);
      struct rdma_conn_param p = params(7, 7, NULL, 0);
      if (type == RDMA_CM_EVENT_DEVICE_REMOVAL || count == 8) give_up("the device is gone");
      if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
        if (!lane_open(&lanes[count], id)) give_up("a queue pair");
        mrs[count] =
            ibv_reg_mr(lanes[count].pd, page, sizeof page,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
        if (!mrs[count]) give_up("ibv_reg_mr");
        for (int i = 0; i < 8; ++i) NEED(post_recv(&lanes[count], i));
        if (rdma_accept(id, &p) == 0) ++count;
      }
    }
    for (int n = 0; n < count; ++n) {
      struct ibv_wc wc;
      while (next_wc(&lanes[n], &wc, 0)) {
        if (!lanes[n].id->qp) continue;
        if (wc.status != IBV_WC_SUCCESS || !(wc.opcode & IBV_WC_RECV)) continue;
        if (holder != n && (holder == -1 || now_us() - renewed > kLease)) {
          if (fixed && holder != -1) rdma_destroy_qp(lanes[holder].id);
          holder = n;
        }
        if (holder == n) renewed = now_us();
        const struct place place = {(uintptr_t)page, mrs[n]->rkey, holder == n};
        memcpy(slot(&lanes[n], 16 + (int)wc.wr_id), &place, sizeof place);
        if (post_recv(&lanes[n], (int)wc.wr_id) == 0) post_send(&lanes[n], 16 + (int)wc.wr_id);
      }
    }
    wait_any(channel, lanes, count, -1);
  }
}

// The next completion of this kind; all else is a success, or the process gives up.
static void await_wc(struct lane* lane, enum ibv_wc_opcode opcode) {
  while (good_wc(lane).opcode != opcode) continue;
}

static struct place ask(struct lane* lane) {
  struct place place;
  NEED(post_recv(lane, 0));
  NEED(post_send(lane, 1));
  await_wc(lane, IBV_WC_RECV);
  memcpy(&place, slot(lane, 0), sizeof place);
  return place;
}

// Reads the page's first words, and writes them back with its own name.
static int talk_as(const char* host, char name) {
  struct lane lane;
  struct place place = {0};
  int64_t asked = 0, written = 0;
  dial(&lane, open_channel(), host, kPort, NULL, 0);
  for (int round = 0; round < kRounds && written < (name == 'b' ? kMine : kRounds); ++round) {
    const int64_t now = now_us();
    if (!place.granted || now - asked > kRenewal) {
      asked = now;
      place = ask(&lane);
      if (place.granted == 0) sleep_us(5000);
      continue;
    }
    if (now_us() - asked > kMargin) continue;
    NEED(post_rdma(&lane, 2, kSlot, IBV_WR_RDMA_READ, place.address, place.rkey));
    await_wc(&lane, IBV_WC_RDMA_READ);
    if (written > 0 && now_us() - asked < kMargin) CHECK(slot(&lane, 2)[0] == name);
    slot(&lane, 2)[0] = name;
    if (now_us() - asked > kMargin) continue;
    NEED(post_rdma(&lane, 2, kSlot, IBV_WR_RDMA_WRITE, place.address, place.rkey));
    await_wc(&lane, IBV_WC_RDMA_WRITE);
    ++written;
    sleep_us(100);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}
static int talk(const char* host) {
  return talk_as(host, 'a');
}

int main(int argc, char** argv) {
  if (argc != 5) return by_role(argc, argv, &fixed, serve, talk);
  return talk_as(argv[3], argv[4][0]);
}
