// A client counts a datagram as delivered when its request has completed, and the server had no
// receive for it.
//
// kind: loss on UD, receives used up
// source: openucx/ucx 11544 (UD: a completion is the sender's alone)
// needs: order
//
// buggy: sends a datagram every 5 us; the server has four receives, and posts one again as soon as
//   it has been used.
// fixed: sends only if fewer than four are not yet acknowledged.
#include "tests/finds/kit.h"

enum { kDatagrams = 24, kReceives = 4, kHeader = 40, kBytes = kHeader + 8 };

static void serve(const struct end* end, const struct memory* memory) {
  for (int taken = 0; taken < kDatagrams;) {
    arm(end->recv_cq);
    struct ibv_wc wc;
    const int before = taken;
    for (; poll_once(end->recv_cq, &wc); taken++) {
      CHECK_EQ(wc.status, IBV_WC_SUCCESS);
      post_receive(end, wc.wr_id, memory, wc.wr_id, kBytes);
      send_bytes(end->socket, "a", 1);
    }
    if (taken == before) take_cq_event(end->channel);
  }
}

static void send_all(const struct end* end, const struct memory* memory, bool fixed) {
  char acknowledgement;
  for (int i = 0; i < kDatagrams; i++) {
    if (fixed && i >= kReceives) take_bytes(end->socket, &acknowledgement, 1);
    post_send(end, i, memory, 0, 8, IBV_SEND_SIGNALED);
    pause_us(5);
  }
  for (int i = 0; i < kDatagrams; i++) complete(end->send_cq);
  for (int i = 0; i < (fixed ? kReceives : kDatagrams); i++)
    take_bytes(end->socket, &acknowledgement, 1);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kReceives * kBytes];
  const struct end end = connect_by(meet(&run), (struct options){.type = IBV_QPT_UD});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kReceives && is(&run, "server"); i++)
    post_receive(&end, i * kBytes, &memory, i * kBytes, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory);
  } else {
    send_all(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
