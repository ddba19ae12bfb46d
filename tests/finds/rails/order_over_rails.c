// What the failed rail did not deliver comes after newer messages, which the other rail has carried
// meanwhile.
// kind: order lost by failover
// source: https://github.com/ofiwg/libfabric/issues/11723;
//   https://github.com/ROCm/rocm-systems/pull/6145 (messages out of order after a recovery)
// needs: faults
// buggy: the server delivers each number once, as it comes.
// fixed: keeps a message until all earlier ones have come. The client sends new messages first, and
//   repeats those of the failed rail in between.
#include <string.h>

#include "tests/finds/rails.h"

enum { kMessages = 24, kWindow = 4 };
static bool fixed;
static struct rail rails[kRails];

static uint64_t life, taken;  // of the client, and a bit for each number
static uint32_t last;         // delivered

static void deliver(uint32_t number) {
  CHECK(number == last + 1);
  last = number;
}

static void on_message(struct server* server, struct served* served, const struct ibv_wc* wc) {
  uint32_t number;
  memcpy(&number, slot(&served->lane, (int)wc->wr_id), sizeof number);
  if (life != server->life) life = server->life, taken = 0, last = 0;
  if (taken >> number & 1) return;
  taken |= 1ull << number;
  if (!fixed) return deliver(number);
  while (taken >> (last + 1) & 1) deliver(last + 1);
}

static int serve(void) {
  static char page[4096];
  struct server server = {
      .page = page, .bytes = sizeof page, .receives = 16, .on_message = on_message};
  return serve_rails(&server);
}

static bool send_number(struct rail* rail, uint32_t number) {
  memcpy(slot(&rail->lane, (int)number), &number, sizeof number);
  return post_send(&rail->lane, (int)number) == 0;
}

static int talk(const char* host) {
  uint32_t done = 0, next = 1, again[kWindow], count = 0;  // numbers begin with 1
  int use = 0, outstanding = 0;
  rails_connect(rails, host);
  while (done < kMessages) {
    struct rail* rail = &rails[use];
    struct ibv_wc wc;
    while (outstanding + (int)count < kWindow && next <= kMessages && send_number(rail, next))
      ++next, ++outstanding;
    while (outstanding < kWindow && count > 0 && send_number(rail, again[0])) {
      memmove(again, again + 1, --count * sizeof again[0]);
      ++outstanding;
    }
    if (!next_wc(&rail->lane, &wc, kPatience)) give_up("no completion");
    --outstanding;
    if (wc.status == IBV_WC_SUCCESS) {
      ++done;
      sleep_us(500);
      continue;
    }
    again[count++] = (uint32_t)wc.wr_id - 100;
    for (; outstanding > 0; --outstanding) {
      if (!next_wc(&rail->lane, &wc, kPatience)) give_up("no completion");
      if (wc.status == IBV_WC_SUCCESS)
        ++done;
      else
        again[count++] = (uint32_t)wc.wr_id - 100;
    }
    if (++use == kRails) give_up("no rail is left");
    // One of those that are repeated waits for a free place.
    if (next <= kMessages && send_number(&rails[use], next)) ++next, ++outstanding;
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
