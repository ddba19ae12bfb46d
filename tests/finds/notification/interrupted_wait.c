// A thread that waits for a completion is interrupted by a signal, and takes this for the
// completion.
//
// kind: signal in the middle of a call
// source: ofiwg/libfabric 4829 (EINTR of a wait for completions)
// needs: order
//
// buggy: does not look at what ibv_get_cq_event(3) returned, nor at how many completions it got
//   then.
// fixed: waits again when it was interrupted, and polls until there is a completion.
#include "tests/finds/kit.h"

#include <signal.h>

enum { kMessages = 10, kBytes = 8 };

static volatile sig_atomic_t asked;
static pthread_t server_thread;

static void count_request(int signal) {
  (void)signal;
  asked++;
}

/// Somebody wants to know how the server is doing, once, when it should have taken all messages.
static void* ask_for_statistics(void* unused) {
  pause_us(260);
  pthread_kill(server_thread, SIGUSR1);
  return unused;
}

static void take_one(const struct end* end, const struct memory* memory, int number, bool fixed) {
  struct ibv_wc wc = {0};
  while (!poll_once(end->recv_cq, &wc)) {
    struct ibv_cq* cq = end->recv_cq;
    void* context;
    arm(end->recv_cq);
    if (poll_once(end->recv_cq, &wc)) break;
    const int result = ibv_get_cq_event(end->channel, &cq, &context);
    if (result == 0) ibv_ack_cq_events(cq, 1);
    if (fixed) {
      CHECK(result == 0 || errno == EINTR);
      continue;
    }
    ibv_poll_cq(end->recv_cq, 1, &wc);
    break;
  }
  CHECK_EQ(load64(memory->at + number * kBytes), number + 1);
}

static void serve(const struct end* end, const struct memory* memory, bool fixed) {
  server_thread = pthread_self();
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = count_request}, NULL);
  const pthread_t asker = start_thread(ask_for_statistics, NULL);
  for (int i = 0; i < kMessages; i++) take_one(end, memory, i, fixed);
  join_thread(asker);
}

static void send_all(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kMessages; i++) {
    store64(memory->at, i + 1);
    post_send(end, i, memory, 0, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kMessages * kBytes];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages && is(&run, "server"); i++)
    post_receive(&end, i, &memory, i * kBytes, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory, run.fixed);
  } else {
    send_all(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
