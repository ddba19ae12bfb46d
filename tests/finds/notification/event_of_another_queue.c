// Two threads wait on one channel, each for its own completion queue; one of them gets the other
// one's event.
//
// kind: lost notification, event taken by the wrong thread
// source: ibv_get_cq_event(3): a channel has the events of all of its queues
// needs: order
//
// buggy: acknowledges an event of the other queue and waits for the next one.
// fixed: each queue has a channel of its own.
#include "tests/finds/kit.h"

enum { kMessages = 12, kSlots = 4, kBytes = 8 };

struct lane {
  struct end end;
  struct memory memory;
};

static void* take_all(void* argument) {
  const struct lane* lane = argument;
  for (int taken = 0; taken < kMessages;) {
    arm(lane->end.recv_cq);
    struct ibv_wc wc;
    const int before = taken;
    for (; poll_once(lane->end.recv_cq, &wc); taken++) {
      CHECK_EQ(wc.status, IBV_WC_SUCCESS);
      post_receive(&lane->end, 0, &lane->memory, 0, kBytes);
      post_send(&lane->end, 0, &lane->memory, kBytes, kBytes, 0);
    }
    if (taken > before) continue;
    while (take_cq_event(lane->end.channel) != lane->end.recv_cq) continue;
  }
  return NULL;
}

static void send_all(const struct lane* lanes) {
  for (int i = 0; i < kMessages; i++) {
    for (int j = 0; j < 2; j++) {
      post_send(&lanes[j].end, i, &lanes[j].memory, kBytes, kBytes, IBV_SEND_SIGNALED);
      complete(lanes[j].end.send_cq);
    }
    for (int j = 0; j < 2; j++) {  // The answers.
      complete(lanes[j].end.recv_cq);
      post_receive(&lanes[j].end, 0, &lanes[j].memory, 0, kBytes);
    }
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  struct lane lanes[2];
  lanes[0].end = connect_by(meet(&run), (struct options){0});
  lanes[1].end = connect_another(
      &lanes[0].end, (struct options){.channel = run.fixed ? NULL : lanes[0].end.channel});
  for (int j = 0; j < 2; j++) lanes[j].memory = own_memory(&lanes[j].end, bytes, sizeof bytes);
  for (int i = 0; i < 2 * kSlots; i++)
    post_receive(&lanes[i % 2].end, 0, &lanes[i % 2].memory, 0, kBytes);
  barrier(lanes[0].end.socket);
  if (is(&run, "server")) {
    const pthread_t first = start_thread(take_all, &lanes[0]);
    const pthread_t second = start_thread(take_all, &lanes[1]);
    join_thread(first);
    join_thread(second);
  } else {
    send_all(lanes);
  }
  barrier(lanes[0].end.socket);
  return 0;
}
