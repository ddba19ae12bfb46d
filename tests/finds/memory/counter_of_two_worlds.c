// A counter is raised by the server's processor and, by fetch-and-add, by a client.
//
// kind: lost update between a remote atomic and the processor's own
// source: open-mpi/ompi 14407, ofiwg/libfabric 508
// needs: spec
//
// buggy: both raise one word; a device's atomics are atomic among each other only (IBV_ATOMIC_HCA).
// fixed: each has a word of its own, and the counter is the sum.
#include "tests/finds/kit.h"

enum { kAdds = 40, kTold = 2 };  // words 0 and 1 count; word 2 is for messages and results

static void raise_here(uint64_t* counter) {
  for (int i = 0; i < kAdds; i++) {
    __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
    pause_us(3);
  }
}

static void raise_there(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kAdds; i++) {
    post_fetch_add(end, i, memory, 8 * kTold, 0, 1, IBV_SEND_SIGNALED);
    complete(end->send_cq);
  }
  post_send(end, 0, memory, 8 * kTold, 8, IBV_SEND_SIGNALED);  // All have been made.
  complete(end->send_cq);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static uint64_t words[3];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, words, sizeof words);
  if (is(&run, "server")) post_receive(&end, 0, &memory, 8 * kTold, 8);
  barrier(end.socket);
  if (is(&run, "server")) {
    raise_here(&words[run.fixed ? 1 : 0]);
    complete(end.recv_cq);
    CHECK_EQ(load64(&words[0]) + load64(&words[1]), 2 * kAdds);
  } else {
    raise_there(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
