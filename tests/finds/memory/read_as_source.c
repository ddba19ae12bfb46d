// A client copies a word from one place of the server's memory to another one, and does not wait in
// between.
//
// kind: missing fence, the target of a READ as the source of a WRITE
// source: ibv_post_send(3), IBV_SEND_FENCE
// needs: spec
//
// buggy: posts the WRITE right behind the READ; the device may fetch its source before the READ's
//   data has come.
// fixed: posts the WRITE with IBV_SEND_FENCE.
// fails: always
#include "tests/finds/kit.h"

enum { kWords = 8 };

static void copy_all(const struct end* end, const struct memory* memory, bool fence) {
  for (int i = 0; i < kWords; i++) {
    post_read(end, i, memory, 8 * i, 8, 8 * i, 0);
    post_write(end, i, memory, 8 * i, 8, 8 * (kWords + i),
               IBV_SEND_SIGNALED | (fence ? IBV_SEND_FENCE : 0));
    complete(end->send_cq);
  }
  post_send(end, 0, memory, 0, 8, IBV_SEND_SIGNALED);  // All words have been copied.
  complete(end->send_cq);
}

static void check(const struct end* end, const uint64_t* words) {
  complete(end->recv_cq);
  for (int i = 0; i < kWords; i++) CHECK_EQ(load64(&words[kWords + i]), 500 + i);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static uint64_t words[2 * kWords + 1];
  for (int i = 0; i < kWords && is(&run, "server"); i++) words[i] = 500 + i;
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, words, sizeof words);
  if (is(&run, "server")) post_receive(&end, 0, &memory, 16 * kWords, 8);
  barrier(end.socket);
  if (is(&run, "server")) {
    check(&end, words);
  } else {
    copy_all(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
