// A server that cannot answer at once refuses a request, and does not post its receive again.
//
// kind: receive not reposted on an error path
// source: joaquinbejar/IronSBE 38, ydb-platform/nbs 2690
// needs: points, order
//
// buggy: each request that is refused costs a receive; the client has nobody who takes its messages
//   in the end.
// fixed: posts the receive again on this way out, too.
#include "tests/finds/kit.h"

enum { kReceives = 3, kAnswers = 2, kRounds = 12, kRound = 3, kBytes = 8 };

struct server {
  const struct end* end;
  const struct memory* memory;
  int sending;
};

static void collect(struct server* server) {
  struct ibv_wc wc;
  for (; poll_once(server->end->send_cq, &wc); server->sending--)
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

/// What is refused the client hears by the control connection.
static void handle(struct server* server, bool fixed) {
  collect(server);
  if (server->sending == kAnswers) {
    send_bytes(server->end->socket, "r", 1);
    if (!fixed) return;
    post_receive(server->end, 0, server->memory, 0, kBytes);
    return;
  }
  server->sending++;
  post_send(server->end, 0, server->memory, kBytes, kBytes, IBV_SEND_SIGNALED);
  post_receive(server->end, 0, server->memory, 0, kBytes);
  send_bytes(server->end->socket, "a", 1);
}

static void ask(const struct end* end, const struct memory* memory) {
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kRound; i++) {
      post_send(end, 0, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
      pause_us(15);
    }
    for (int i = 0; i < kRound; i++) {
      char verdict;
      complete(end->send_cq);
      take_bytes(end->socket, &verdict, 1);
      if (verdict == 'a') complete(end->recv_cq);
    }
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  const struct end end = connect_by(meet(&run), (struct options){.receives = 64});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  const int receives = is(&run, "server") ? kReceives : kRounds * kRound;
  for (int i = 0; i < receives; i++) post_receive(&end, 0, &memory, 0, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    struct server server = {.end = &end, .memory = &memory};
    for (int i = 0; i < kRounds * kRound; i++) {
      complete(end.recv_cq);
      handle(&server, run.fixed);
    }
  } else {
    ask(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
