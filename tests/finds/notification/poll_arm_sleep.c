// A server polls until its completion queue is empty, arms the queue, and sleeps.
//
// kind: lost notification
// source: ofiwg/libfabric 796
// needs: points
//
// buggy: does not poll again after arming; what completes between the last poll and the arming
//   raises no event.
// fixed: polls again after arming.
#include "tests/finds/kit.h"

enum { kMessages = 24, kSlots = 4, kBytes = 8 };

static int drain(const struct end* end, const struct memory* memory) {
  struct ibv_wc wc;
  int taken = 0;
  for (; poll_once(end->recv_cq, &wc); taken++) {
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    post_receive(end, wc.wr_id, memory, 0, kBytes);
    post_send(end, 0, memory, kBytes, kBytes, 0);
  }
  return taken;
}

static void serve(const struct end* end, const struct memory* memory, bool polls_again) {
  for (int taken = 0; taken < kMessages;) {
    take_cq_event(end->channel);
    taken += drain(end, memory);
    arm(end->recv_cq);
    if (polls_again) taken += drain(end, memory);
  }
}

/// Two messages, and then their answers.
static void send_all(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kMessages; i += 2) {
    for (int j = 0; j < 2; j++) {
      post_send(end, i, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
      pause_us(8);
    }
    for (int j = 0; j < 2; j++) {
      complete(end->send_cq);
      complete(end->recv_cq);
      post_receive(end, 0, memory, 0, kBytes);
    }
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kSlots; i++) post_receive(&end, i, &memory, 0, kBytes);
  arm(end.recv_cq);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory, run.fixed);
  } else {
    send_all(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
