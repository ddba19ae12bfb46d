// A client writes its next message over the one that the device has not sent yet.
//
// kind: source reused before completion
// source: kvcache-ai/Mooncake 1567
// needs: spec
//
// buggy: all messages are built in one buffer, each right after the last one has been posted; the
//   device may read the buffer until the request completes.
// fixed: waits for the completion before it builds the next message.
// fails: always
#include "tests/finds/kit.h"

enum { kMessages = 8 };

static void serve(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kMessages; i++) post_receive(end, i, memory, 8 * i, 8);
  barrier(end->socket);
  for (int i = 0; i < kMessages; i++) {
    const struct ibv_wc wc = complete(end->recv_cq);
    CHECK_EQ(wc.wr_id, i);
    CHECK_EQ(load64(memory->at + 8 * i), 100 + i);
  }
}

static void send_all(const struct end* end, const struct memory* memory, bool waits) {
  barrier(end->socket);
  for (int i = 0; i < kMessages; i++) {
    store64(memory->at, 100 + i);
    post_send(end, i, memory, 0, 8, IBV_SEND_SIGNALED);
    if (waits) complete(end->send_cq);
  }
  for (int i = 0; i < kMessages && !waits; i++) complete(end->send_cq);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[8 * kMessages];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  if (is(&run, "server")) {
    serve(&end, &memory);
  } else {
    send_all(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
