// A rail is connected anew, on the same completion queue, and a completion of the failed queue pair
// is taken for one of the new queue pair: both have the same wr_id.
// kind: completion of an earlier queue pair, by a wr_id that is used again
// source: https://github.com/linux-rdma/rdma-core/pull/1731 (a generation in each request);
//   https://github.com/kvcache-ai/Mooncake/pull/3584; https://github.com/spdk/spdk/pull/3859
// needs: faults
// buggy: looks at the wr_id.
// fixed: looks at the number of the queue pair first.
#include <string.h>

#include "tests/finds/rails.h"

enum { kBlocks = 32, kWindow = 4, kLives = 3 };
static bool fixed;
static struct rail rails[kRails];
struct retired {
  struct rdma_event_channel* channel;
  struct rdma_cm_id* id;
};
static struct retired retired[kRails * kLives];
static int retired_count;

static int serve(void) {
  static char page[4096] __attribute__((aligned(4096)));
  struct server server = {.page = page, .bytes = sizeof page};
  return serve_rails(&server);
}

static bool post_block(struct rail* rail, int n) {
  memset(slot(&rail->lane, n), 'x', kSlot);
  return post_rdma(&rail->lane, n, kSlot, IBV_WR_RDMA_WRITE,
                   rail->place.address + (uint64_t)n * kSlot, rail->place.rkey) == 0;
}

// Blocks until the connection fails. Returns how many are stored.
static int store(struct rail* rail, int done) {
  int posted = done;
  while (done < kBlocks) {
    struct ibv_wc wc;
    for (; posted < kBlocks && posted < done + kWindow; ++posted)
      if (!post_block(rail, posted)) give_up("a post");
    if (!next_wc(&rail->lane, &wc, kPatience)) return done;
    if (fixed && wc.qp_num != rail->lane.id->qp->qp_num) continue;
    if (wc.status != IBV_WC_SUCCESS || wc.wr_id != 100 + (uint64_t)done) return done;
    ++done;
    sleep_us(500);
  }
  return done;
}

// The earlier queue pair stays until the end: its completions are to come.
static bool renew(struct rail* rail, int number, const char* host) {
  retired[retired_count++] = (struct retired){rail->channel, rail->lane.id};
  return rail_renew(rail, number, host);
}

static int talk(const char* host) {
  int done = 0;
  rails_connect(rails, host);
  for (int n = 0; n < kRails && done < kBlocks; ++n)
    for (int life = 1; done < kBlocks; ++life) {
      done = store(&rails[n], done);
      if (done == kBlocks) break;
      if (life < kLives && renew(&rails[n], n, host)) continue;
      CHECK(life < kLives || !rail_alive(&rails[n]));
      break;
    }
  if (done < kBlocks) give_up("no rail is left");
  for (int n = 0; n < retired_count; ++n) {
    rdma_disconnect(retired[n].id);
    rdma_destroy_qp(retired[n].id);
    rdma_destroy_id(retired[n].id);
    rdma_destroy_event_channel(retired[n].channel);
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
