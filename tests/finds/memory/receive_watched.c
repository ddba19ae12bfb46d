// A server that wants to be quick watches the last byte of its receive buffer, and not the
// completion queue.
//
// kind: receive buffer read before its completion
// source: linux-rdma/rdma-core 1780
// needs: spec
//
// buggy: takes the message once the buffer's last byte is no longer 0; until the completion the
//   contents are undefined.
// fixed: takes the message once the receive has completed.
#include "tests/finds/kit.h"

enum { kMessages = 6, kBytes = 256 };

static void take_all(const struct end* end, const struct memory* memory, bool fixed) {
  for (int i = 0; i < kMessages; i++) {
    const char* message = memory->at + i * kBytes;
    if (fixed) {
      complete(end->recv_cq);
    } else {
      AWAIT(load8(message + kBytes - 1) != 0);
    }
    for (int j = 0; j < kBytes; j++) CHECK_EQ(load8(message + j), i + 1);
    if (!fixed) complete(end->recv_cq);
  }
}

static void send_all(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kMessages; i++) {
    memset(memory->at + i * kBytes, i + 1, kBytes);
    post_send(end, i, memory, i * kBytes, kBytes, IBV_SEND_SIGNALED);
  }
  for (int i = 0; i < kMessages; i++) complete(end->send_cq);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kMessages * kBytes];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages && is(&run, "server"); i++)
    post_receive(&end, i, &memory, i * kBytes, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    take_all(&end, &memory, run.fixed);
  } else {
    send_all(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
