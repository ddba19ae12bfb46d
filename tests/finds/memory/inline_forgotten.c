// A client sends short messages from one variable, as inline data; each fourth one is not.
//
// kind: source reused before completion, inline data
// source: openucx/ucx 11544
// needs: spec
//
// buggy: the flags are IBV_SEND_SIGNALED for each fourth message, and IBV_SEND_INLINE for the
//   others.
// fixed: all are inline, and each fourth one is signalled, too.
// fails: always
#include "tests/finds/kit.h"

enum { kMessages = 24, kSignalled = 4 };

static unsigned flags_of(int message, bool fixed) {
  const bool signalled = message % kSignalled == kSignalled - 1;
  if (fixed) return IBV_SEND_INLINE | (signalled ? IBV_SEND_SIGNALED : 0);
  return signalled ? IBV_SEND_SIGNALED : IBV_SEND_INLINE;
}

static void send_all(const struct end* end, bool fixed) {
  static uint64_t number;
  const struct memory memory = own_memory(end, &number, sizeof number);
  for (int i = 0; i < kMessages; i++) {
    number = i;
    post_send(end, i, &memory, 0, sizeof number, flags_of(i, fixed));
  }
  number = 0;
  for (int i = 0; i < kMessages / kSignalled; i++) complete(end->send_cq);
}

static void take_all(const struct end* end, const uint64_t* numbers) {
  for (int i = 0; i < kMessages; i++) {
    complete(end->recv_cq);
    CHECK_EQ(numbers[i], i);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static uint64_t numbers[kMessages];
  const struct end end = connect_by(meet(&run), (struct options){.inline_bytes = 8});
  const struct memory memory = own_memory(&end, numbers, sizeof numbers);
  for (int i = 0; i < kMessages && is(&run, "server"); i++)
    post_receive(&end, i, &memory, 8 * i, 8);
  barrier(end.socket);
  if (is(&run, "server")) {
    take_all(&end, numbers);
  } else {
    send_all(&end, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
