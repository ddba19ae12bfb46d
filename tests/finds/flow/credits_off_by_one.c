// Both sides count credits for messages, and forget that the message that gives credits back takes
// a receive as well.
//
// kind: credits off by one
// source: ofiwg/libfabric 5702
// needs: points, order
//
// buggy: as many receives as messages that may be under way; if all of them are, a message with
//   credits finds none.
// fixed: more receives, for the messages with credits that may be under way.
// fails: always
#include "tests/finds/kit.h"

enum {
  kMessages = 24,
  kCredits = 4,
  kBatch = 2,
  kReceives = kCredits + kCredits / kBatch,
  kBytes = 8
};

struct side {
  const struct end* end;
  const struct memory* memory;
  int credits, sent, received, owed;
};

static void send_word(struct side* side, uint64_t word) {
  store64(side->memory->at + kBytes, word);
  post_send(side->end, 0, side->memory, kBytes, kBytes, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
  struct ibv_wc wc;
  while (poll_once(side->end->send_cq, &wc)) CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

/// Words: 1 is a message, 2 gives kBatch credits.
static void take(struct side* side) {
  struct ibv_wc wc;
  while (poll_once(side->end->recv_cq, &wc)) {
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    const uint64_t word = load64(side->memory->at + (2 + wc.wr_id) * kBytes);
    post_receive(side->end, wc.wr_id, side->memory, (2 + wc.wr_id) * kBytes, kBytes);
    if (word == 2) {
      side->credits += kBatch;
    } else {
      side->received++;
      side->owed++;
    }
    if (side->owed == kBatch) {
      side->owed = 0;
      send_word(side, 2);
    }
  }
}

static void talk(struct side* side) {
  for (;;) {
    arm(side->end->recv_cq);
    take(side);
    for (int i = 0; i < kBatch && side->credits > 0 && side->sent < kMessages; i++) {
      side->credits--;
      side->sent++;
      send_word(side, 1);
    }
    if (side->sent == kMessages && side->received == kMessages && side->credits == kCredits) return;
    take_cq_event(side->end->channel);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[(2 + kReceives) * kBytes];
  const struct end end = connect_by(
      meet(&run), (struct options){.no_rnr_retry = true, .inline_bytes = kBytes, .sends = 128});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  const int receives = run.fixed ? kReceives : kCredits;
  for (int i = 0; i < receives; i++) post_receive(&end, i, &memory, (2 + i) * kBytes, kBytes);
  barrier(end.socket);
  struct side side = {.end = &end, .memory = &memory, .credits = kCredits};
  talk(&side);
  barrier(end.socket);
  return 0;
}
