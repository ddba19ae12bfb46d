// Two clients take slots from a free list in the server's memory by compare-and-swap of its head,
// which comes back to a slot.
//
// kind: atomics, ABA
// source: dmemsys/SMART 2 (on atomics together with READ and WRITE)
// needs: order, faults
//
// buggy: the head is the number of a slot: it may be the same again while the slot's successor is
//   another one.
// fixed: the head also has a number that each change raises.
#include "tests/finds/kit.h"

enum {
  kSlots = 4,
  kRounds = 6,
  kHead = 0,
  kNext = 64,
  kOwners = 128,
  kScratch = 192,
  kBytes = 256
};
enum { kIndex = 255 };  // The part of the head that is a slot, from 1 on; 0 is none.

struct client {
  struct end end;
  struct memory memory;
  bool fixed;
};

static uint64_t read_word(const struct client* client, size_t offset) {
  post_read(&client->end, 0, &client->memory, kScratch, 8, offset, IBV_SEND_SIGNALED);
  complete(client->end.send_cq);
  return load64(client->memory.at + kScratch);
}

static bool swing_head(const struct client* client, uint64_t from, uint64_t slot) {
  const uint64_t change = client->fixed ? (from & ~(uint64_t)kIndex) + kIndex + 1 : 0;
  post_compare_swap(&client->end, 0, &client->memory, kScratch, kHead, from, change | slot,
                    IBV_SEND_SIGNALED);
  complete(client->end.send_cq);
  return load64(client->memory.at + kScratch) == from;
}

/// How many have the slot before `change`; it is to be none, or oneself.
static uint64_t change_owners(const struct client* client, uint64_t slot, uint64_t change) {
  post_fetch_add(&client->end, 0, &client->memory, kScratch, kOwners + 8 * slot, change,
                 IBV_SEND_SIGNALED);
  complete(client->end.send_cq);
  return load64(client->memory.at + kScratch);
}

static uint64_t pop(const struct client* client) {
  struct patience patience = patience_ms(10000);
  for (;;) {
    const uint64_t head = read_word(client, kHead);
    if ((head & kIndex) != 0) {
      const uint64_t next = read_word(client, kNext + 8 * (head & kIndex));
      if (swing_head(client, head, next)) {
        CHECK_EQ(change_owners(client, head & kIndex, 1), 0);
        return head & kIndex;
      }
    }
    CHECK(nap(&patience));
  }
}

static void push(const struct client* client, uint64_t slot) {
  CHECK_EQ(change_owners(client, slot, -1), 1);
  struct patience patience = patience_ms(10000);
  for (;;) {
    const uint64_t head = read_word(client, kHead);
    store64(client->memory.at + kNext, head & kIndex);
    post_write(&client->end, 0, &client->memory, kNext, 8, kNext + 8 * slot, IBV_SEND_SIGNALED);
    complete(client->end.send_cq);
    if (swing_head(client, head, slot)) return;
    CHECK(nap(&patience));
  }
}

static void use_slots(const struct client* client) {
  for (int i = 0; i < kRounds; i++) {
    const uint64_t first = pop(client), second = pop(client);
    push(client, first);
    pause_us(100);
    push(client, second);
  }
}

static void serve(void) {
  static char bytes[kBytes];
  store64(bytes + kHead, 1);
  for (int slot = 1; slot < kSlots; slot++) store64(bytes + kNext + 8 * slot, slot + 1);
  const int listener = listen_on(5000);
  const struct end first = connect_by(accept_from(listener), (struct options){0});
  share_memory(&first, bytes, sizeof bytes);
  const struct end second =
      connect_by(accept_from(listener), (struct options){.device = &first.device});
  share_memory(&second, bytes, sizeof bytes);
  for (int i = 0; i < 2; i++) {  // They begin, and are done.
    barrier(first.socket);
    barrier(second.socket);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  if (is(&run, "server")) {
    serve();
    return 0;
  }
  static char bytes[kBytes];
  struct client client = {.fixed = run.fixed};
  client.end = connect_by(dial(run.peer, 5000), (struct options){0});
  client.memory = share_memory(&client.end, bytes, sizeof bytes);
  barrier(client.end.socket);
  use_slots(&client);
  barrier(client.end.socket);
  return 0;
}
