// A server trusts the length at the front of a message that one WRITE has brought, and reads the
// rest too early.
//
// kind: torn WRITE
// source: linux-rdma/rdma-core 1780
// needs: spec
//
// buggy: the client writes length and payload with one request; the server reads the payload when
//   the length is there.
// fixed: the client writes the payload first, and the length with a second request on the same
//   queue pair.
#include "tests/finds/kit.h"

enum { kMessages = 8, kPayload = 504 };

struct message {
  uint64_t length;
  uint8_t payload[kPayload];
};

static void take_all(const struct message* messages) {
  for (int i = 0; i < kMessages; i++) {
    AWAIT(load64(&messages[i].length) != 0);
    CHECK_EQ(messages[i].length, kPayload);
    for (int j = 0; j < kPayload; j++) CHECK_EQ(load8(&messages[i].payload[j]), i + 1);
  }
}

static void write_all(const struct end* end, const struct memory* memory, bool fixed) {
  struct message* messages = (struct message*)memory->at;
  for (int i = 0; i < kMessages; i++) {
    const size_t at = i * sizeof *messages;
    messages[i].length = kPayload;
    memset(messages[i].payload, i + 1, kPayload);
    if (fixed) {
      post_write(end, i, memory, at + 8, kPayload, at + 8, 0);
      post_write(end, i, memory, at, 8, at, IBV_SEND_SIGNALED);
    } else {
      post_write(end, i, memory, at, sizeof *messages, at, IBV_SEND_SIGNALED);
    }
    complete(end->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static struct message messages[kMessages];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, messages, sizeof messages);
  if (is(&run, "server")) {
    take_all(messages);
  } else {
    write_all(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
