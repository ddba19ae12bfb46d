// A worker acknowledges all events of a channel on the queue whose event came last; destroying the
// other one never ends.
//
// kind: event not acknowledged
// source: openucx/ucx 1039
// needs: points, order
//
// buggy: counts events while there are more, and acknowledges them at once, on the last one's
//   queue.
// fixed: acknowledges each event on its own queue.
#include "tests/finds/kit.h"

#include <fcntl.h>
#include <poll.h>

enum { kMessages = 12, kBytes = 8 };

static void take_events(const struct end* end, bool fixed) {
  struct ibv_cq* cq;
  struct ibv_cq* last = NULL;
  void* context;
  int count = 0;
  while (ibv_get_cq_event(end->channel, &cq, &context) == 0) {
    if (fixed) ibv_ack_cq_events(cq, 1);
    last = cq;
    count++;
  }
  if (!fixed && count > 0) ibv_ack_cq_events(last, count);
}

static int drain(struct ibv_cq* cq) {
  struct ibv_wc wc;
  int taken = 0;
  for (; poll_once(cq, &wc); taken++) CHECK_EQ(wc.status, IBV_WC_SUCCESS);
  return taken;
}

static void serve(const struct end* end, const struct memory* memory, bool fixed) {
  CHECK_OK(fcntl(end->channel->fd, F_SETFL, O_NONBLOCK));
  int received = 0, sent = 0;
  for (;;) {
    arm(end->send_cq);
    arm(end->recv_cq);
    sent += drain(end->send_cq);
    const int requests = drain(end->recv_cq);
    for (int i = 0; i < requests; i++) post_send(end, 0, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
    received += requests;
    if (received == kMessages && sent == kMessages) break;
    struct pollfd waiting = {.fd = end->channel->fd, .events = POLLIN};
    CHECK_EQ(poll(&waiting, 1, -1), 1);
    take_events(end, fixed);
  }
  take_events(end, fixed);
}

static void ask(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kMessages; i++) {
    post_send(end, i, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
    complete(end->recv_cq);
    pause_us(15);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages; i++) post_receive(&end, i, &memory, 0, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory, run.fixed);
  } else {
    ask(&end, &memory);
  }
  barrier(end.socket);
  CHECK_OK(ibv_destroy_qp(end.qp));
  CHECK_OK(ibv_destroy_cq(end.send_cq));
  CHECK_OK(ibv_destroy_cq(end.recv_cq));
  return 0;
}
