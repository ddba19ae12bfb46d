// A server gives back a credit for a message before it has posted the receive for the next one.
//
// kind: receive posted too late, credits
// source: ofiwg/libfabric 5702
// needs: points
//
// buggy: sends the credit, then posts the receive; a client that is quick finds no receive, and
//   nobody retries.
// fixed: posts the receive first.
#include "tests/finds/kit.h"

enum { kMessages = 30, kCredits = 2, kBytes = 8 };

static void serve(const struct end* end, const struct memory* memory, bool fixed) {
  for (int i = 0; i < kMessages; i++) {
    complete(end->recv_cq);
    if (fixed) post_receive(end, 0, memory, 0, kBytes);
    post_send(end, i, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
    if (!fixed) post_receive(end, 0, memory, 0, kBytes);
  }
  for (int i = 0; i < kMessages; i++) complete(end->send_cq);
}

static void send_all(const struct end* end, const struct memory* memory) {
  int credits = kCredits;
  for (int sent = 0, returned = 0; returned < kMessages;) {
    for (; credits > 0 && sent < kMessages; credits--, sent++)
      post_send(end, sent, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
    complete(end->recv_cq);
    credits++;
    returned++;
    complete(end->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  const struct end end =
      connect_by(meet(&run), (struct options){.no_rnr_retry = true, .receives = kMessages});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  const int receives = is(&run, "server") ? kCredits : kMessages;
  for (int i = 0; i < receives; i++) post_receive(&end, 0, &memory, 0, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory, run.fixed);
  } else {
    send_all(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
