// A WRITE of the failed rail is still under way when the client goes on with the other rail, and
// overwrites what the client has written there.
// kind: late WRITE of the failed rail
// source: SHIFT (arXiv 2512.11094), on what a failed rail may still do;
//   https://github.com/kvcache-ai/Mooncake/issues/2960 (the peer has the old queue pair)
// needs: faults, instants
// buggy: goes on at once.
// fixed: has the server destroy the queue pair of the failed rail first. The server is told of each
//   value that has been written, and values only grow.
#include <string.h>

#include "tests/finds/rails.h"

enum { kValues = 40, kAnswer = 16, kTold = 48 };
static bool fixed;
static struct rail rails[kRails];
static uint64_t page[8] __attribute__((aligned(64)));
struct message {
  uint64_t value;
  uint64_t fence;  ///< not 0: the other connections of this client are to end
};

static void on_message(struct server* server, struct served* served, const struct ibv_wc* wc) {
  static uint64_t life, told;
  const int in = (int)wc->wr_id;
  struct message m;
  memcpy(&m, slot(&served->lane, in), sizeof m);
  if (life != server->life) life = server->life, told = 0;
  for (int i = 0; m.fence && i < kServed; ++i)
    if (server->all[i].lane.id && &server->all[i] != served) served_close(&server->all[i]);
  if (m.value > told) told = m.value;
  CHECK(m.fence || *page >= told);
  memcpy(slot(&served->lane, kAnswer + in), &m, sizeof m);
  if (post_send(&served->lane, kAnswer + in)) rdma_disconnect(served->lane.id);
}

static int serve(void) {
  struct server server = {
      .page = page, .bytes = sizeof page, .receives = 8, .on_message = on_message};
  return serve_rails(&server);
}

// Tells the server, and waits for its answer.
static bool tell(struct rail* rail, int n, struct message m) {
  struct ibv_wc wc;
  memcpy(slot(&rail->lane, kTold + n % 8), &m, sizeof m);
  if (post_recv(&rail->lane, n % 8) || post_send(&rail->lane, kTold + n % 8)) return false;
  while (next_wc(&rail->lane, &wc, kPatience) && wc.status == IBV_WC_SUCCESS)
    if (wc.opcode & IBV_WC_RECV) return true;
  return false;
}

static bool write_value(struct rail* rail, int n, uint64_t value) {
  memcpy(slot(&rail->lane, 8 + n % 8), &value, sizeof value);
  return post_rdma(&rail->lane, 8 + n % 8, sizeof value, IBV_WR_RDMA_WRITE, rail->place.address,
                   rail->place.rkey) == 0;
}

static int talk(const char* host) {
  int use = 0;
  rails_connect(rails, host);
  // A client's values are greater than those of its earlier lives.
  for (int n = 0; n < kValues; ++n, sleep_us(500)) {
    const uint64_t value = own_life() + (uint64_t)n;
    while (!write_value(&rails[use], n, value) ||
           !tell(&rails[use], n, (struct message){value, 0})) {
      if (++use == kRails) give_up("no rail is left");
      if (fixed && !tell(&rails[use], n, (struct message){0, 1})) give_up("no rail is left");
    }
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
