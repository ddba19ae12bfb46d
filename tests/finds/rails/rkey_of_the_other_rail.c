// A request that a rail has not done is posted on the other rail as it is: with the key that the
// server's memory has on the first device.
// kind: key of the failed rail used on another
// source: https://github.com/openucx/ucx/pull/11155 (resolution of keys after a failover);
//   https://github.com/kvcache-ai/Mooncake/pull/2908 (which takes the key of the other device)
// needs: faults
// buggy: takes address and key from the first attempt.
// fixed: takes those of the rail on which it posts.
#include <string.h>

#include "tests/finds/rails.h"

enum { kBlocks = 24 };
static bool fixed;
static struct rail rails[kRails];

static int serve(void) {
  static char page[4096] __attribute__((aligned(4096)));
  struct server server = {.page = page, .bytes = sizeof page};
  return serve_rails(&server);
}

static bool write_block(struct rail* rail, int n, const struct place* place) {
  struct ibv_wc wc;
  memset(slot(&rail->lane, n), 'x', kSlot);
  if (post_rdma(&rail->lane, n, kSlot, IBV_WR_RDMA_WRITE, place->address + (uint64_t)n * kSlot,
                place->rkey) ||
      !next_wc(&rail->lane, &wc, kPatience))
    return false;
  CHECK(wc.status != IBV_WC_REM_ACCESS_ERR);
  return wc.status == IBV_WC_SUCCESS;
}

static int talk(const char* host) {
  int use = 0;
  rails_connect(rails, host);
  for (int n = 0; n < kBlocks; ++n) {
    const struct place* place = &rails[use].place;
    while (!write_block(&rails[use], n, place)) {
      if (++use == kRails) give_up("no rail is left");
      if (fixed) place = &rails[use].place;
    }
    sleep_us(500);
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
