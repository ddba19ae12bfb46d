// A server gives credits back four at a time, and loses those of a batch that it could not send.
//
// kind: credit update lost
// source: ofiwg/libfabric 5702
// needs: points, order
//
// buggy: its one buffer for credits is still being sent: it begins to count anew.
// fixed: keeps the count, and sends it when the buffer is free.
#include "tests/finds/kit.h"

enum { kMessages = 36, kPieces = 60, kBatch = 4, kCredits = 2 * kBatch, kBytes = 8 };

struct server {
  const struct end* end;
  const struct memory* memory;
  uint64_t owed;
  int received;
  bool sending;
};

static void give_back(struct server* server, bool fixed) {
  if (server->owed < kBatch) return;
  if (server->sending) {
    if (!fixed) server->owed = 0;
    return;
  }
  store64(server->memory->at + kBytes, server->owed);
  server->owed = 0;
  server->sending = true;
  post_send(server->end, 0, server->memory, kBytes, kBytes, IBV_SEND_SIGNALED);
}

static void serve(struct server* server, bool fixed) {
  while (server->received < kPieces || server->sending || server->owed >= kBatch) {
    const struct ibv_wc wc = complete(server->end->recv_cq);
    if (wc.opcode & IBV_WC_RECV) {
      server->received++;
      server->owed++;
      post_receive(server->end, 0, server->memory, 0, kBytes);
    } else {
      server->sending = false;
    }
    give_back(server, fixed);
  }
}

static uint64_t take_credits(const struct end* end, const struct memory* memory) {
  const struct ibv_wc wc = complete(end->recv_cq);
  if (!(wc.opcode & IBV_WC_RECV)) return 0;
  const uint64_t credits = load64(memory->at + wc.wr_id);
  post_receive(end, wc.wr_id, memory, wc.wr_id, kBytes);
  return credits;
}

/// Each sixth message has five pieces, which are sent when there are credits for all of them.
static void send_all(const struct end* end, const struct memory* memory) {
  uint64_t credits = kCredits;
  for (int message = 0; message < kMessages; message++) {
    const uint64_t pieces = message % 6 == 5 ? 5 : 1;
    while (credits < pieces) credits += take_credits(end, memory);
    for (uint64_t i = 0; i < pieces; i++, credits--) {
      post_send(end, 0, memory, 0, kBytes, IBV_SEND_SIGNALED);
      pause_us(6);
    }
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[6 * kBytes];  // What is sent, and then receives.
  const struct end end = connect_by(
      meet(&run), (struct options){.one_cq = true, .sends = 2 * kPieces, .entries = 512});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  if (is(&run, "server")) {
    for (int i = 0; i < kCredits; i++) post_receive(&end, 0, &memory, 0, kBytes);
  } else {
    for (int i = 2; i < 6; i++) post_receive(&end, i * kBytes, &memory, i * kBytes, kBytes);
  }
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
