// A client takes the old value of a word and puts a new one there; what it takes may be its own new
// value.
//
// kind: missing fence, write after read
// source: linux-rdma/rdma-core 1780
// needs: spec
//
// buggy: posts READ and WRITE of the same word behind each other; a WRITE may be carried out before
//   an earlier READ.
// fixed: posts the WRITE with IBV_SEND_FENCE.
// fails: always
#include "tests/finds/kit.h"

enum { kWords = 8 };

static void exchange_all(const struct end* end, const struct memory* memory, bool fence) {
  uint64_t* words = (uint64_t*)memory->at;
  for (int i = 0; i < kWords; i++) {
    words[kWords] = 900 + i;
    post_read(end, i, memory, 8 * i, 8, 8 * i, IBV_SEND_SIGNALED);
    post_write(end, i, memory, 8 * kWords, 8, 8 * i,
               IBV_SEND_SIGNALED | (fence ? IBV_SEND_FENCE : 0));
    complete(end->send_cq);
    complete(end->send_cq);
    CHECK_EQ(load64(&words[i]), 500 + i);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static uint64_t words[kWords + 1];
  for (int i = 0; i < kWords && is(&run, "server"); i++) words[i] = 500 + i;
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, words, sizeof words);
  if (is(&run, "client")) exchange_all(&end, &memory, run.fixed);
  barrier(end.socket);
  return 0;
}
