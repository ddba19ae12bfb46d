// Memory is given away while a peer may still write to it: the request has timed out, the WRITE
// comes later.
// kind: memory given away while a peer may write
// source: https://github.com/novitalabs/pegaflow/issues/403 (DMA into freed memory after a
//   timeout)
// needs: faults
// buggy: after a timeout the reply's buffer goes back to the pool.
// fixed: after a timeout the connection is ended first: a queue pair that is gone takes no WRITEs.
//   A client asks, with an address in the request; the server writes 64 bytes there, and sends an
//   empty message after that. What is taken from the pool keeps the program's own bytes.
#include <string.h>

#include "tests/finds/cm.h"

enum { kRequests = 12, kTimeout = 2 };
static bool fixed;
struct place {
  uint64_t address;
  uint32_t rkey, number;
};

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, 16);
  for (;;) {
    struct ibv_wc wc;
    struct place place;
    if (!next_wc(&lane, &wc, kPatience) || wc.status != IBV_WC_SUCCESS) break;
    if (!(wc.opcode & IBV_WC_RECV)) continue;
    memcpy(&place, slot(&lane, (int)wc.wr_id), sizeof place);
    const int out = 16 + (int)place.number % 8;
    memset(slot(&lane, out), 'r', kSlot);
    if (post_recv(&lane, (int)wc.wr_id)) break;
    if (post_rdma(&lane, out, kSlot, IBV_WR_RDMA_WRITE, place.address, place.rkey)) break;
    if (post_rdma(&lane, out, 0, IBV_WR_SEND, 0, 0)) break;
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

static void use_for_something_else(char* memory) {
  memset(memory, 'm', kSlot);
  sleep_us(20000);
  for (int i = 0; i < kSlot; ++i) CHECK(memory[i] == 'm');
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  dial(&lane, channel, host, kPort, NULL, 0);
  for (uint32_t n = 0; n < kRequests; ++n) {
    char* buffer = slot(&lane, 32 + (int)n);
    const struct place place = {(uintptr_t)buffer, lane.mr->rkey, n};
    memcpy(slot(&lane, (int)n), &place, sizeof place);
    NEED(post_recv(&lane, 16 + (int)n));
    NEED(post_send(&lane, (int)n));
    bool replied = false;
    struct ibv_wc wc;
    while (!replied && next_wc(&lane, &wc, kTimeout)) {
      if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
      replied = wc.opcode & IBV_WC_RECV;
    }
    if (replied) continue;
    if (fixed) {
      rdma_disconnect(lane.id);
      rdma_destroy_qp(lane.id);
      use_for_something_else(buffer);
      give_up("a reply is late");
    }
    use_for_something_else(buffer);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
