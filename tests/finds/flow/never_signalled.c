// A client's requests are never signalled; it sends slowly enough, it thinks, for a place in the
// queue to be free.
//
// kind: send queue never signalled
// source: apache/brpc 3132, uccl-project/uccl 267
// needs: points, order
//
// buggy: with all 16 places taken a post is ENOMEM; and on a device that frees a place when a
//   completion behind it has been polled the 17th one always is.
// fixed: each fourth request is signalled, and counted when its completion has been polled.
// fails: always
#include "tests/finds/kit.h"

enum { kMessages = 80, kQueue = 16, kSignalled = 4, kBytes = 8 };

static void send_all(const struct end* end, const struct memory* memory, bool fixed) {
  int done = 0;
  for (int i = 0; i < kMessages; i++) {
    for (; fixed && i - done >= kQueue; done += kSignalled) complete(end->send_cq);
    const bool signalled = fixed && i % kSignalled == kSignalled - 1;
    post_send(end, i, memory, 0, kBytes, signalled ? IBV_SEND_SIGNALED : 0);
    pause_us(2);
  }
  for (; fixed && done < kMessages; done += kSignalled) complete(end->send_cq);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kBytes];
  const struct end end =
      connect_by(meet(&run), (struct options){.sends = kQueue, .receives = kMessages});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages && is(&run, "server"); i++)
    post_receive(&end, 0, &memory, 0, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    for (int i = 0; i < kMessages; i++) complete(end.recv_cq);
  } else {
    send_all(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
