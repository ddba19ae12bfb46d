// A request is repeated on the other rail, and the receive for its answer is still posted on the
// rail that has failed: the server's answer waits for a receive for ever.
// kind: hang, since receives were not posted on the surviving rail
// source: https://github.com/NVIDIA/nccl/issues/2334 (a receiver that waits for ever after a
//   recovery); https://github.com/kvcache-ai/Mooncake/pull/2959
// needs: faults
// buggy: posts the receive with the first attempt only.
// fixed: posts one on each rail that it sends on.
#include <string.h>

#include "tests/finds/rails.h"

enum { kRequests = 16, kOut = 32 };
static bool fixed;
static struct rail rails[kRails];

static void on_message(struct server* server, struct served* served, const struct ibv_wc* wc) {
  const int in = (int)wc->wr_id;
  (void)server;
  memcpy(slot(&served->lane, kOut + in), slot(&served->lane, in), kSlot);
  if (post_send(&served->lane, kOut + in)) rdma_disconnect(served->lane.id);
}

static int serve(void) {
  static char page[4096];
  struct server server = {
      .page = page, .bytes = sizeof page, .receives = 16, .on_message = on_message};
  return serve_rails(&server);
}

// False: the rail has failed.
static bool call(struct rail* rail, int n, bool with_receive) {
  struct lane* lane = &rail->lane;
  struct ibv_wc wc;
  if (with_receive && post_recv(lane, n)) return false;
  memcpy(slot(lane, kOut + n), &n, sizeof n);
  if (post_send(lane, kOut + n)) return false;
  while (next_wc(lane, &wc, 60000)) {
    if (wc.status != IBV_WC_SUCCESS) return false;
    if (wc.opcode & IBV_WC_RECV) return true;
  }
  unanswered(lane, "the answer has nowhere to go");
}

static int talk(const char* host) {
  int use = 0;
  rails_connect(rails, host);
  for (int n = 0; n < kRequests; ++n) {
    bool first = true;
    for (; !call(&rails[use], n, first || fixed); first = false)
      if (++use == kRails) give_up("no rail is left");
    sleep_us(500);
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
