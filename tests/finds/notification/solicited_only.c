// A server sleeps until a solicited completion comes, and what it waits for is the completion of a
// send.
//
// kind: lost notification, solicited events
// source: ibv_req_notify_cq(3): with solicited_only only receives of solicited messages and errors
//   raise an event
// needs: points, order
//
// buggy: when all of its buffers for answers are being sent, it arms the queue for solicited
//   completions and sleeps; it can be that late only if requests have come faster than answers are
//   acknowledged.
// fixed: arms the queue for all completions when it needs a buffer.
#include "tests/finds/kit.h"

enum { kRounds = 6, kRequests = 5, kBuffers = 4, kBytes = 8 };

struct server {
  const struct end* end;
  const struct memory* memory;
  int requests, free_buffers, answered;
};

static void take(struct server* server) {
  struct ibv_wc wc;
  while (poll_once(server->end->recv_cq, &wc)) {
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    if (wc.opcode & IBV_WC_RECV) {
      server->requests++;
      post_receive(server->end, 0, server->memory, 0, kBytes);
    } else {
      server->free_buffers++;
    }
  }
}

static void answer(struct server* server) {
  for (; server->requests > 0 && server->free_buffers > 0; server->requests--) {
    server->free_buffers--;
    server->answered++;
    post_send(server->end, 0, server->memory, kBytes, kBytes, IBV_SEND_SIGNALED);
  }
}

static void serve(struct server* server, bool fixed) {
  while (server->answered < kRounds * kRequests) {
    const bool needs_buffer = server->requests > 0;
    CHECK_OK(ibv_req_notify_cq(server->end->recv_cq, !(fixed && needs_buffer)));
    take(server);
    if (server->requests > 0 && server->free_buffers > 0) {
      answer(server);
    } else if (needs_buffer == (server->requests > 0)) {
      take_cq_event(server->end->channel);
      take(server);
      answer(server);
    }
  }
}

static void ask(const struct end* end, const struct memory* memory) {
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kRequests; i++) {
      post_send(end, i, memory, kBytes, kBytes, IBV_SEND_SOLICITED);
      pause_us(6);
    }
    for (int i = 0; i < kRequests; i++) {
      complete(end->recv_cq);
      post_receive(end, 0, memory, 0, kBytes);
    }
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[2 * kBytes];  // What comes, and what is sent.
  const struct end end = connect_by(meet(&run), (struct options){.sends = 64, .one_cq = true});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < 2 * kRequests; i++) post_receive(&end, 0, &memory, 0, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    struct server server = {.end = &end, .memory = &memory, .free_buffers = kBuffers};
    serve(&server, run.fixed);
  } else {
    ask(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
