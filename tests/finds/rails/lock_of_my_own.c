// A compare-and-swap takes a lock, its response is lost with the rail, and the client waits for a
// lock that it holds itself.
// kind: compare-and-swap retried on another rail
// source: SHIFT (arXiv 2512.11094), its proof that a retried compare-and-swap is not idempotent
// needs: faults
// buggy: on the other rail it swaps again, and takes its own name in the lock for another's.
// fixed: each turn has a ticket, and a lock with a ticket of its own is its own.
#include <string.h>

#include "tests/finds/rails.h"

enum { kTurns = 10, kForEver = 20000000, kLifeBits = 40 };
static bool fixed;
static uint64_t lock_word[8] __attribute__((aligned(64)));
static struct rail rails[kRails];

static int serve(void) {
  struct server server = {.page = lock_word, .bytes = sizeof lock_word};
  return serve_rails(&server);
}

static bool try_swap(struct rail* rail, uint64_t expected, uint64_t wanted, uint64_t* old) {
  struct lane* lane = &rail->lane;
  struct ibv_sge sge = {(uintptr_t)slot(lane, 0), 8, lane->mr->lkey};
  struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP},
                     *bad;
  struct ibv_wc wc;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.atomic.remote_addr = rail->place.address;
  wr.wr.atomic.rkey = rail->place.rkey;
  wr.wr.atomic.compare_add = expected;
  wr.wr.atomic.swap = wanted;
  rail->up = ibv_post_send(lane->id->qp, &wr, &bad) == 0 && next_wc(lane, &wc, kPatience) &&
             wc.status == IBV_WC_SUCCESS;
  if (rail->up) memcpy(old, slot(lane, 0), 8);
  return rail->up;
}

// On whichever rail works.
static uint64_t swap(uint64_t expected, uint64_t wanted) {
  uint64_t old;
  for (int n = 0; n < kRails; ++n)
    if (rails[n].up && try_swap(&rails[n], expected, wanted, &old)) return old;
  give_up("no rail is left");
}

// A ticket is a client's life, shortened, and the number of its turn.
static bool is_mine(uint64_t ticket) {
  return ticket >> (64 - kLifeBits) == (own_life() & ((1ull << kLifeBits) - 1));
}
static uint64_t ticket_of(unsigned turn) {
  return own_life() << (64 - kLifeBits) | turn;
}

static void take(uint64_t ticket) {
  const int64_t since = now_us();
  uint64_t expected = 0;
  for (int64_t delay = 50;; delay = delay < 100000 ? 2 * delay : delay) {
    const uint64_t old = swap(expected, ticket);
    if (old == expected) return;
    // An earlier swap of this client may have arrived late.
    if (fixed && old == ticket) return;
    expected = fixed && is_mine(old) ? old : 0;
    if (now_us() - since > kForEver) {
      CHECK(!is_mine(old));
      give_up("an earlier life has the lock");
    }
    sleep_us(delay);
  }
}

static int talk(const char* host) {
  rails_connect(rails, host);
  for (unsigned turn = 1; turn <= kTurns; ++turn) {
    take(ticket_of(turn));
    sleep_us(500);
    swap(ticket_of(turn), 0);
    sleep_us(500);
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
