// The second rail fails while the first one is gone: what is outstanding is put aside for a rail
// that works, and no rail will.
// kind: both rails fail
// source: https://github.com/ROCm/rocm-systems/pull/6145 (its test of all devices that fail);
//   https://github.com/NVIDIA/nccl/issues/2323 (a rail that is given up is not tried again)
// needs: faults
// buggy: waits for a completion on the rails that work, without asking whether there are any.
// fixed: reports the failure when no rail is left.
#include <string.h>

#include "tests/finds/rails.h"

enum { kBlocks = 24, kWindow = 4 };
static bool fixed;
static struct rail rails[kRails];

static int serve(void) {
  static char page[4096] __attribute__((aligned(4096)));
  struct server server = {.page = page, .bytes = sizeof page};
  return serve_rails(&server);
}

static struct rail* working(void) {
  for (int n = 0; n < kRails; ++n)
    if (rails[n].up) return &rails[n];
  return NULL;
}

static bool post_block(struct rail* rail, int n) {
  memset(slot(&rail->lane, n), 'x', kSlot);
  return post_rdma(&rail->lane, n, kSlot, IBV_WR_RDMA_WRITE,
                   rail->place.address + (uint64_t)n * kSlot, rail->place.rkey) == 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* idle = open_channel();
  int done = 0, posted = 0;
  rails_connect(rails, host);
  while (done < kBlocks) {
    struct rail* rail = working();
    struct ibv_wc wc;
    if (!rail) {
      if (fixed) give_up("no rail is left");
      wait_any(idle, NULL, 0, -1);
      continue;
    }
    while (posted < kBlocks && posted < done + kWindow && post_block(rail, posted)) ++posted;
    if (next_wc(&rail->lane, &wc, kPatience) && wc.status == IBV_WC_SUCCESS) {
      ++done;
      sleep_us(500);
      continue;
    }
    rail_close(rail);
    posted = done;
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
