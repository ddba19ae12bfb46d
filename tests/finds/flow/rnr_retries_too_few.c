// A client gives a busy server one more chance, and the server is sometimes busy for longer.
//
// kind: receive posted too late, few RNR retries
// source: spdk/spdk 2429
// needs: order
//
// buggy: rnr_retry is 1, and the server posts receives between other work.
// fixed: the server has posted receives for all that the client may send before an answer.
#include "tests/finds/kit.h"

enum { kMessages = 8, kWindow = 3, kBytes = 8 };

/// The peer tries again after 10 us.
static void shorten_rnr_timer(struct ibv_qp* qp) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .min_rnr_timer = 1};
  CHECK_OK(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER));
}

static void serve(const struct end* end, const struct memory* memory, bool fixed) {
  for (int i = 0; i < kWindow && fixed; i++) post_receive(end, 0, memory, 0, kBytes);
  barrier(end->socket);
  for (int i = 0; i < kMessages; i++) {
    if (!fixed) post_receive(end, 0, memory, 0, kBytes);
    complete(end->recv_cq);
    if (fixed) post_receive(end, 0, memory, 0, kBytes);
    post_send(end, 0, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
  }
}

static void ask(const struct end* end, const struct memory* memory) {
  barrier(end->socket);
  for (int i = 0; i < kMessages; i++) {
    post_send(end, 0, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
    complete(end->recv_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  const struct end end = connect_by(meet(&run), (struct options){.rnr_retries = 1});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  shorten_rnr_timer(end.qp);
  if (is(&run, "server")) {
    serve(&end, &memory, run.fixed);
  } else {
    for (int i = 0; i < kMessages; i++) post_receive(&end, 0, &memory, 0, kBytes);
    ask(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
