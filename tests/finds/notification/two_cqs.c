// A server with two completion queues on one channel sleeps although a receive has completed.
//
// kind: lost notification
// source: apache/brpc 3415
// needs: points
//
// buggy: after both queues have been armed it looks once more at the send queue only; a receive
//   that completes between the last poll of the receive queue and its arming raises no event.
// fixed: after arming it looks at both queues again.
#include "tests/finds/kit.h"

enum { kMessages = 24, kSlots = 32, kBytes = 8 };

struct worker {
  struct end* end;
  const struct memory* memory;
  int sent, received;
};

static void answer(struct worker* worker, const struct ibv_wc* wc) {
  CHECK_EQ(wc->status, IBV_WC_SUCCESS);
  if (!(wc->opcode & IBV_WC_RECV)) return;
  worker->received++;
  post_receive(worker->end, 0, worker->memory, 0, kBytes);
  if (worker->sent == kMessages) return;
  worker->sent++;
  // Most of what comes is in the receive queue.
  post_send(worker->end, 0, worker->memory, kBytes, kBytes,
            worker->sent % 16 == 0 ? IBV_SEND_SIGNALED : 0);
}

static void drain(struct worker* worker, struct ibv_cq* cq) {
  struct ibv_wc wc;
  while (poll_once(cq, &wc)) answer(worker, &wc);
}

static void work(struct worker* worker, bool looks_at_both) {
  struct end* end = worker->end;
  while (worker->received < kMessages) {
    take_cq_event(end->channel);
    drain(worker, end->recv_cq);
    drain(worker, end->send_cq);
    arm(end->send_cq);
    arm(end->recv_cq);
    if (looks_at_both) drain(worker, end->recv_cq);
    drain(worker, end->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  struct end end = connect_by(meet(&run), (struct options){.receives = 2 * kSlots});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  struct worker worker = {.end = &end, .memory = &memory};
  for (int i = 0; i < kSlots; i++) post_receive(&end, 0, &memory, 0, kBytes);
  arm(end.send_cq);
  arm(end.recv_cq);
  barrier(end.socket);

  if (is(&run, "client")) {  // Begins; each answer is answered.
    worker.sent = 1;
    post_send(&end, 0, &memory, kBytes, kBytes, 0);
    work(&worker, true);
  } else {
    work(&worker, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
