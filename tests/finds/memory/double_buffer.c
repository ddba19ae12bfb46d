// A client that fills one half of a buffer while the device sends the other one does not know when
// a half is free.
//
// kind: source reused before completion
// source: nfs-ganesha/nfs-ganesha 14
// needs: spec
//
// buggy: takes a half again once the WRITE from the other half has been posted: two requests later.
// fixed: takes a half again once the WRITE from it has completed.
// fails: always
#include "tests/finds/kit.h"

enum { kBlocks = 10, kBytes = 256 };

static void fill(char* half, int block) {
  memset(half, block + 1, kBytes);
}

static void copy(const struct end* end, const struct memory* memory, bool waits) {
  int completed = 0;
  for (int block = 0; block < kBlocks; block++) {
    const size_t half = block % 2 * kBytes;
    // The block before the last one was sent from the same half.
    for (; waits && completed < block - 1; completed++) complete(end->send_cq);
    fill(memory->at + half, block);
    post_write(end, block, memory, half, kBytes, block * kBytes, IBV_SEND_SIGNALED);
  }
  for (; completed < kBlocks; completed++) complete(end->send_cq);
  post_send(end, 0, memory, 0, 1, IBV_SEND_SIGNALED);  // All blocks are there.
  complete(end->send_cq);
}

static void check(const struct end* end, const struct memory* memory) {
  complete(end->recv_cq);
  for (int i = 0; i < kBlocks * kBytes; i++) CHECK_EQ(load8(memory->at + i), i / kBytes + 1);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[(kBlocks + 1) * kBytes];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, bytes, sizeof bytes);
  if (is(&run, "server")) post_receive(&end, 0, &memory, kBlocks * kBytes, 1);
  barrier(end.socket);
  if (is(&run, "server")) {
    check(&end, &memory);
  } else {
    copy(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
