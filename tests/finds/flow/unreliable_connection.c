// A client counts what it has sent over an unreliable connection as delivered when its requests
// have completed.
//
// kind: loss on UC
// source: ibv_create_qp(3), IBV_QPT_UC: nothing is acknowledged
// needs: faults
//
// buggy: tells the server how many messages it has sent; the server waits for as many.
// fixed: the server tells which ones it has, and the client sends the others again.
#include "tests/finds/kit.h"

enum { kMessages = 12, kRounds = 50, kReceives = 32, kBytes = 8, kQuietMs = 2 };
static const uint64_t kAll = (1ull << kMessages) - 1;

static void take_until_quiet(const struct end* end, const struct memory* memory, uint64_t* have) {
  struct ibv_wc wc;
  while (try_complete(end->recv_cq, &wc, kQuietMs)) {
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    *have |= 1ull << load64(memory->at + wc.wr_id);
    post_receive(end, wc.wr_id, memory, wc.wr_id, kBytes);
  }
}

static void serve(const struct end* end, const struct memory* memory, bool fixed) {
  uint64_t have = 0, told;
  do {
    take_bytes(end->socket, &told, sizeof told);
    for (uint64_t i = 0; i < told && !fixed; i++) complete(end->recv_cq);
    if (!fixed) have = kAll;
    take_until_quiet(end, memory, &have);
    send_bytes(end->socket, &have, sizeof have);
  } while (have != kAll);
}

static void send_all(const struct end* end, const struct memory* memory) {
  uint64_t there = 0;
  for (int round = 0; there != kAll; round++) {
    CHECK(round < kRounds);
    uint64_t sent = 0;
    for (uint64_t i = 0; i < kMessages; i++) {
      if (there >> i & 1) continue;
      sent++;
      store64(memory->at, i);
      post_send(end, i, memory, 0, kBytes, IBV_SEND_SIGNALED);
      complete(end->send_cq);
    }
    send_bytes(end->socket, &sent, sizeof sent);
    take_bytes(end->socket, &there, sizeof there);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kReceives * kBytes];
  const struct end end = connect_by(meet(&run), (struct options){.type = IBV_QPT_UC});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kReceives && is(&run, "server"); i++)
    post_receive(&end, i * kBytes, &memory, i * kBytes, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory, run.fixed);
  } else {
    send_all(&end, &memory);
  }
  barrier(end.socket);
  return 0;
}
