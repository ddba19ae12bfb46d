// A server takes one batch of completions for each event; what is beyond the batch stays in the
// queue.
//
// kind: lost notification, a batch that is full
// source: linux-rdma/perftest 137
// needs: points, order
//
// buggy: polls for up to four completions once, after arming; a fifth one that is there already
//   raises no event.
// fixed: polls until a batch is not full.
#include "tests/finds/kit.h"

enum { kBursts = 6, kBurst = 6, kMessages = kBursts * kBurst, kBatch = 4, kBytes = 8 };

static int take_batch(const struct end* end) {
  struct ibv_wc wcs[kBatch];
  const int count = ibv_poll_cq(end->recv_cq, kBatch, wcs);
  CHECK(count >= 0);
  for (int i = 0; i < count; i++) CHECK_EQ(wcs[i].status, IBV_WC_SUCCESS);
  return count;
}

static void serve(const struct end* end, const struct memory* memory, bool fixed) {
  for (int taken = 0; taken < kMessages;) {
    take_cq_event(end->channel);
    arm(end->recv_cq);
    const int before = taken;
    int count;
    do {
      count = take_batch(end);
      taken += count;
    } while (fixed && count == kBatch);
    if (taken % kBurst == 0 && taken > before) post_send(end, 0, memory, kBytes, kBytes, 0);
  }
}

static void send_bursts(const struct end* end, const struct memory* memory) {
  for (int burst = 0; burst < kBursts; burst++) {
    for (int i = 0; i < kBurst; i++) {
      post_send(end, i, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
      pause_us(4);
    }
    for (int i = 0; i < kBurst; i++) complete(end->send_cq);
    complete(end->recv_cq);  // The burst has been taken.
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  const struct end end = connect_by(meet(&run), (struct options){.receives = kMessages});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages; i++) post_receive(&end, i, &memory, 0, kBytes);
  if (is(&run, "server")) arm(end.recv_cq);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory, run.fixed);
  } else {
    send_bursts(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
