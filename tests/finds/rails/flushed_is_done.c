// A rail fails, the first completion says so, and those that are flushed behind it count as done:
// only one of the outstanding requests is repeated on the other rail.
// kind: work lost, since flushed completions were counted as done
// source: https://github.com/ROCm/rocm-systems/pull/6145 (which completions are to be repeated);
//   https://github.com/NVIDIA/nccl/issues/2334
// needs: faults
// buggy: repeats the request that failed, and takes the others for done.
// fixed: repeats all of them. The first WRITEs, too: nobody has seen them arrive.
#include <string.h>

#include "tests/finds/rails.h"

enum { kBlocks = 16, kWindow = 4, kQuestion = 32 };
static bool fixed;
static char page[kBlocks * kSlot] __attribute__((aligned(64)));
static struct rail rails[kRails];

// A message says that all blocks are there.
static void on_message(struct server* server, struct served* served, const struct ibv_wc* wc) {
  (void)served, (void)wc;
  for (int n = 0; n < kBlocks; ++n) CHECK(*(uint64_t*)(page + n * kSlot) == server->life);
}

static int serve(void) {
  struct server server = {
      .page = page, .bytes = sizeof page, .receives = 4, .on_message = on_message};
  return serve_rails(&server);
}

static bool write_block(struct rail* rail, int n) {
  const uint64_t life = own_life();
  memcpy(slot(&rail->lane, n), &life, sizeof life);
  return post_rdma(&rail->lane, n, kSlot, IBV_WR_RDMA_WRITE,
                   rail->place.address + (uint64_t)n * kSlot, rail->place.rkey) == 0;
}

static int talk(const char* host) {
  bool done[kBlocks] = {false};
  int use = 0, n = 0, outstanding = 0;
  rails_connect(rails, host);
  for (;;) {
    struct rail* rail = &rails[use];
    struct ibv_wc wc;
    bool failed = false;
    for (; n < kBlocks && outstanding < kWindow; ++n)
      if (!done[n]) {
        if (!write_block(rail, n)) give_up("a post");
        ++outstanding;
      }
    if (outstanding == 0) break;
    while (outstanding > 0) {
      if (!next_wc(&rail->lane, &wc, kPatience)) give_up("no completion");
      --outstanding;
      // The completion in error is of the failed request, and those behind it are flushed.
      done[wc.wr_id - 100] = wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_WR_FLUSH_ERR;
      failed = failed || wc.status != IBV_WC_SUCCESS;
      if (!failed) break;
    }
    sleep_us(500);
    if (!failed) continue;
    if (++use == kRails) give_up("no rail is left");
    if (fixed) memset(done, 0, sizeof done);
    n = 0;
  }
  NEED(post_send(&rails[use].lane, kQuestion));
  good_wc(&rails[use].lane);
  for (n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
