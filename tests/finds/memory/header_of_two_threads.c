// A thread brings the header of a message up to date while another thread's request still sends it.
//
// kind: source reused before completion
// source: ibv_post_send(3), on when buffers may be used again
// needs: spec
//
// buggy: the lock on the header is given back when the request has been posted.
// fixed: the lock is given back when the request has completed.
// fails: always
#include "tests/finds/kit.h"

enum { kMessages = 12, kRaises = 60 };

struct message {
  uint64_t epoch;  ///< What the peer is to know of this host; a second thread raises it.
  uint64_t body;   ///< The epoch in which the message was written.
};

static struct message message;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* raise_epoch(void* unused) {
  for (int i = 0; i < kRaises; i++) {
    pthread_mutex_lock(&lock);
    message.epoch++;
    pthread_mutex_unlock(&lock);
    pause_us(7);
  }
  return unused;
}

static void send_all(const struct end* end, bool holds_lock) {
  const struct memory memory = own_memory(end, &message, sizeof message);
  const pthread_t raiser = start_thread(raise_epoch, NULL);
  for (int i = 0; i < kMessages; i++) {
    pthread_mutex_lock(&lock);
    message.body = message.epoch;
    post_send(end, i, &memory, 0, sizeof message, IBV_SEND_SIGNALED);
    if (!holds_lock) pthread_mutex_unlock(&lock);
    complete(end->send_cq);
    if (holds_lock) pthread_mutex_unlock(&lock);
  }
  join_thread(raiser);
}

static void take_all(const struct end* end, const struct message* messages) {
  for (int i = 0; i < kMessages; i++) {
    complete(end->recv_cq);
    CHECK_EQ(messages[i].epoch, messages[i].body);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static struct message messages[kMessages];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = own_memory(&end, messages, sizeof messages);
  if (is(&run, "server")) {
    for (int i = 0; i < kMessages; i++)
      post_receive(&end, i, &memory, i * sizeof *messages, sizeof *messages);
  }
  barrier(end.socket);
  if (is(&run, "server")) {
    take_all(&end, messages);
  } else {
    send_all(&end, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
