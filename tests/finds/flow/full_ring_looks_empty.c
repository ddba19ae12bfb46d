// A client writes into a ring in the server's memory; when the ring is full it looks empty.
//
// kind: ring that wraps around when the reader is slow
// source: jcxue/RDMA-Tutorial 11 (a ring that does not wrap around as it should)
// needs: order
//
// buggy: compares positions within the ring; eight slots ahead is the same position as none ahead,
//   and unread slots are written over.
// fixed: compares counts.
#include "tests/finds/kit.h"

enum { kSlots = 8, kWords = 64, kStrideUs = 2, kReadCount = kSlots, kSources = kSlots + 1 };

static void read_ring(uint64_t* words) {
  for (uint64_t i = 0; i < kWords; i++) {
    AWAIT(load64(&words[i % kSlots]) != 0);
    CHECK_EQ(load64(&words[i % kSlots]), i + 1);
    store64(&words[i % kSlots], 0);
    store64(&words[kReadCount], i + 1);
  }
}

/// How much the server has read.
static uint64_t count_read(const struct end* end, const struct memory* memory) {
  post_read(end, 0, memory, 8 * kReadCount, 8, 8 * kReadCount, IBV_SEND_SIGNALED);
  complete(end->send_cq);  // And so are all WRITEs before it.
  return load64(memory->at + 8 * kReadCount);
}

static uint64_t space_left(uint64_t written, uint64_t read, bool fixed) {
  if (fixed) return kSlots - (written - read);
  const uint64_t distance = (read - written) % kSlots;
  return distance == 0 ? kSlots : distance;
}

static void write_ring(const struct end* end, const struct memory* memory, bool fixed) {
  uint64_t* words = (uint64_t*)memory->at;
  uint64_t space = 0;
  for (uint64_t i = 0; i < kWords; i++, space--) {
    if (space == 0) AWAIT((space = space_left(i, count_read(end, memory), fixed)) != 0);
    words[kSources + i] = i + 1;
    post_write(end, 0, memory, 8 * (kSources + i), 8, 8 * (i % kSlots), 0);
    pause_us(kStrideUs);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static uint64_t words[kSources + kWords];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, words, sizeof words);
  if (is(&run, "server")) {
    read_ring(words);
  } else {
    write_ring(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
