// The messages that are outstanding when a rail fails are sent again on the other rail, and the
// server has some of them twice.
// kind: SEND repeated on another rail
// source: https://github.com/openucx/ucx/pull/11582 (replay of what the peer has not received);
//   https://github.com/NVIDIA/nccl/issues/2157; SHIFT (arXiv 2512.11094)
// needs: faults
// buggy: the server takes each message that arrives.
// fixed: takes a number once. A message adds its number to an account.
#include <string.h>

#include "tests/finds/rails.h"

enum { kMessages = 24, kWindow = 4 };
static bool fixed;
static struct rail rails[kRails];

static uint64_t life, taken;  // of the client, and a bit for each number
static uint32_t count;        // of its messages

static void on_message(struct server* server, struct served* served, const struct ibv_wc* wc) {
  uint32_t number;
  memcpy(&number, slot(&served->lane, (int)wc->wr_id), sizeof number);
  if (life != server->life) life = server->life, taken = 0, count = 0;
  if (fixed && taken >> number & 1) return;
  taken |= 1ull << number;
  ++count;
  CHECK(count == (uint32_t)__builtin_popcountll(taken));
}

static int serve(void) {
  static char page[4096];
  struct server server = {
      .page = page, .bytes = sizeof page, .receives = 16, .on_message = on_message};
  return serve_rails(&server);
}

// Sends what is not acknowledged, until the rail fails.
static uint32_t stream(struct rail* rail, uint32_t done) {
  uint32_t posted = done;
  while (done < kMessages) {
    struct ibv_wc wc;
    for (; posted < kMessages && posted < done + kWindow; ++posted) {
      memcpy(slot(&rail->lane, (int)posted), &posted, sizeof posted);
      if (post_send(&rail->lane, (int)posted)) return done;
    }
    if (!next_wc(&rail->lane, &wc, kPatience) || wc.status != IBV_WC_SUCCESS) return done;
    ++done;
    sleep_us(500);
  }
  return done;
}

static int talk(const char* host) {
  uint32_t done = 0;
  rails_connect(rails, host);
  for (int n = 0; n < kRails && done < kMessages; ++n) done = stream(&rails[n], done);
  if (done < kMessages) give_up("no rail is left");
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
