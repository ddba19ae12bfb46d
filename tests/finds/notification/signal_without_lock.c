// A thread polls under a lock and waits for a condition; another one signals it when the queue has
// an event, without the lock.
//
// kind: lost notification, condition variable beside a completion queue
// source: pthread_cond_signal(3p), on signalling without the mutex
// needs: points
//
// buggy: signals between the poll, which found nothing, and the wait: nobody is woken.
// fixed: the signalling thread raises a number under the lock, and the other one waits until it is
//   another number.
#include "tests/finds/kit.h"

enum { kMessages = 16, kSlots = 4, kBytes = 8 };

struct server {
  const struct end* end;
  const struct memory* memory;
  pthread_mutex_t lock;
  pthread_cond_t came;
  int events;
  bool fixed;
};

static void* watch(void* argument) {
  struct server* server = argument;
  for (;;) {
    take_cq_event(server->end->channel);
    arm(server->end->recv_cq);
    if (server->fixed) {
      pthread_mutex_lock(&server->lock);
      server->events++;
      pthread_mutex_unlock(&server->lock);
    }
    pthread_cond_signal(&server->came);
  }
  return NULL;
}

/// Called with the lock.
static void wait_for_event(struct server* server, int events) {
  if (!server->fixed) {
    pthread_cond_wait(&server->came, &server->lock);
    return;
  }
  while (server->events == events) pthread_cond_wait(&server->came, &server->lock);
}

static void serve(struct server* server) {
  start_thread(watch, server);
  for (int taken = 0; taken < kMessages; taken++) {
    struct ibv_wc wc;
    pthread_mutex_lock(&server->lock);
    for (int events = server->events; !poll_once(server->end->recv_cq, &wc);
         events = server->events)
      wait_for_event(server, events);
    pthread_mutex_unlock(&server->lock);
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    post_receive(server->end, 0, server->memory, 0, kBytes);
    post_send(server->end, 0, server->memory, kBytes, kBytes, 0);
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
  for (int i = 0; i < kSlots; i++) post_receive(&end, 0, &memory, 0, kBytes);
  arm(end.recv_cq);
  barrier(end.socket);
  if (is(&run, "server")) {
    static struct server server = {.lock = PTHREAD_MUTEX_INITIALIZER,
                                   .came = PTHREAD_COND_INITIALIZER};
    server.end = &end;
    server.memory = &memory;
    server.fixed = run.fixed;
    serve(&server);
  } else {
    send_all(&end, &memory);
  }
  barrier(end.socket);
  succeed();  // The watching thread sleeps.
}
