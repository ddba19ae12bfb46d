// One thread takes the events of a completion queue and arms it, another one polls; they do it in
// the wrong order.
//
// kind: lost notification, order of arming and polling in two threads
// source: openucx/ucx 1492
// needs: order
//
// buggy: the queue is armed when the other thread has polled it empty.
// fixed: the queue is armed before the other thread is told to poll.
#include "tests/finds/kit.h"

#include <semaphore.h>

enum { kMessages = 20, kSlots = 8, kBytes = 8 };

struct server {
  const struct end* end;
  const struct memory* memory;
  sem_t work, polled;
  int taken;  ///< Read by the other thread after `polled`.
};

static void* poll_when_told(void* argument) {
  struct server* server = argument;
  while (server->taken < kMessages) {
    while (sem_wait(&server->work) != 0) continue;
    struct ibv_wc wc;
    for (; poll_once(server->end->recv_cq, &wc); server->taken++) {
      CHECK_EQ(wc.status, IBV_WC_SUCCESS);
      post_receive(server->end, wc.wr_id, server->memory, 0, kBytes);
      post_send(server->end, 0, server->memory, kBytes, kBytes, 0);
    }
    sem_post(&server->polled);
  }
  return NULL;
}

static void serve(struct server* server, bool fixed) {
  CHECK_OK(sem_init(&server->work, 0, 0));
  CHECK_OK(sem_init(&server->polled, 0, 0));
  const pthread_t poller = start_thread(poll_when_told, server);
  while (server->taken < kMessages) {
    take_cq_event(server->end->channel);
    if (fixed) arm(server->end->recv_cq);
    sem_post(&server->work);
    while (sem_wait(&server->polled) != 0) continue;
    if (!fixed) arm(server->end->recv_cq);
  }
  join_thread(poller);
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
    struct server server = {.end = &end, .memory = &memory};
    serve(&server, run.fixed);
  } else {
    send_all(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
