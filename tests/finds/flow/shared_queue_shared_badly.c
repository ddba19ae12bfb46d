// Two peers send long messages in pieces to one shared receive queue, and each keeps what the other
// one needs.
//
// kind: shared receive queue starved by one peer
// source: openucx/ucx 10505, ofiwg/libfabric 11946
// needs: order
//
// buggy: a piece keeps its receive until its message is complete; there are receives for one
//   message and a half.
// fixed: there are receives for all messages that may be under way.
#include "tests/finds/kit.h"

enum { kPieces = 4, kFew = 6, kEnough = 2 * kPieces, kMessages = 6, kBytes = 8 };

struct peer {
  struct end end;
  int pieces, messages;
};

static void serve(bool fixed) {
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  struct device device = open_device();
  const int receives = fixed ? kEnough : kFew;
  struct ibv_srq_init_attr init = {.attr = {.max_wr = kEnough, .max_sge = 1}};
  struct ibv_srq* srq = ibv_create_srq(device.pd, &init);
  CHECK(srq != NULL);
  const int listener = listen_on(5000);
  struct peer peers[2] = {0};
  for (int i = 0; i < 2; i++)
    peers[i].end =
        connect_by(accept_from(listener), (struct options){.device = &device, .srq = srq});
  const struct memory memory = own_memory(&peers[0].end, bytes, sizeof bytes);
  for (int i = 0; i < receives; i++) post_receive(&peers[0].end, 0, &memory, 0, kBytes);
  for (int i = 0; i < 2; i++) barrier(peers[i].end.socket);

  struct patience patience = patience_ms(15000);
  while (peers[0].messages + peers[1].messages < 2 * kMessages) {
    for (struct peer* peer = peers; peer < peers + 2; peer++) {
      struct ibv_wc wc;
      if (!poll_once(peer->end.recv_cq, &wc)) continue;
      CHECK_EQ(wc.status, IBV_WC_SUCCESS);
      patience = patience_ms(15000);
      if (++peer->pieces < kPieces) continue;
      peer->pieces = 0;
      peer->messages++;
      for (int i = 0; i < kPieces; i++) post_receive(&peer->end, 0, &memory, 0, kBytes);
      post_send(&peer->end, 0, &memory, kBytes, kBytes, IBV_SEND_SIGNALED);
      complete(peer->end.send_cq);
    }
    CHECK(nap(&patience));
  }
  for (int i = 0; i < 2; i++) barrier(peers[i].end.socket);
}

static void send_all(const struct run* run) {
  static char bytes[2 * kBytes];
  const struct end end = connect_by(dial(run->peer, 5000), (struct options){0});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  barrier(end.socket);
  for (int i = 0; i < kMessages; i++) {
    post_receive(&end, 0, &memory, 0, kBytes);
    if (is(run, "second")) pause_us(70);
    for (int j = 0; j < kPieces; j++) {
      post_send(&end, 0, &memory, kBytes, kBytes, IBV_SEND_SIGNALED);
      pause_us(3);
    }
    for (int j = 0; j < kPieces; j++) complete(end.send_cq);
    complete(end.recv_cq);
    if (is(run, "first")) pause_us(70);
  }
  barrier(end.socket);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  if (is(&run, "server")) {
    serve(run.fixed);
  } else {
    send_all(&run);
  }
  return 0;
}
