// A message that is exactly as long as inline data may be is not inline, but is taken for that.
//
// kind: source reused before completion, inline data
// source: openucx/ucx 11544
// needs: spec
//
// buggy: a message is inline if it is shorter than the limit, and its buffer is used again at once
//   if the message is not longer than the limit.
// fixed: both say "not longer than the limit".
// fails: always
#include "tests/finds/kit.h"

enum { kLimit = 64, kMessages = 16 };

/// 16, 32, 48 bytes; and 64, which is the limit.
static size_t size_of(int message) {
  return 16 * (size_t)(message % 4 + 1);
}

static void send_all(const struct end* end, bool fixed) {
  static char bytes[kLimit];
  const struct memory memory = own_memory(end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages; i++) {
    const size_t size = size_of(i);
    memset(bytes, i + 1, size);
    const bool is_inline = fixed ? size <= kLimit : size < kLimit;
    post_send(end, i, &memory, 0, size, IBV_SEND_SIGNALED | (is_inline ? IBV_SEND_INLINE : 0));
    if (size > kLimit) complete(end->send_cq);  // None is; longer ones have to be waited for.
  }
  memset(bytes, 0, sizeof bytes);
  for (int i = 0; i < kMessages; i++) complete(end->send_cq);
}

static void take_all(const struct end* end, const char* bytes) {
  for (int i = 0; i < kMessages; i++) {
    const struct ibv_wc wc = complete(end->recv_cq);
    CHECK_EQ(wc.byte_len, size_of(i));
    for (unsigned j = 0; j < wc.byte_len; j++) CHECK_EQ(bytes[kLimit * i + j], i + 1);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kLimit * kMessages];
  const struct end end = connect_by(meet(&run), (struct options){.inline_bytes = kLimit});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages && is(&run, "server"); i++)
    post_receive(&end, i, &memory, kLimit * i, kLimit);
  barrier(end.socket);
  if (is(&run, "server")) {
    take_all(&end, bytes);
  } else {
    send_all(&end, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
