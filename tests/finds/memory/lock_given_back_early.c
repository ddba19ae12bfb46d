// Two clients change a word of the server's under a lock; the lock is free before the word can be
// seen.
//
// kind: compare-and-swap lock released before the data is visible
// source: dmemsys/SMART 2, thustorage/Sherman 23
// needs: spec
//
// buggy: writes the word on one queue pair, waits for the completion, and writes the lock on
//   another one.
// fixed: writes both on the same queue pair, in this order.
#include "tests/finds/kit.h"

enum { kTurns = 6, kLock = 0, kWord = 128, kScratch = 256, kBytes = 384 };

static void lock(const struct end* end, const struct memory* memory) {
  struct patience patience = patience_ms(10000);
  do {
    CHECK(nap(&patience));
    if (patience.nap_us > 64) patience.nap_us = 32;
    post_compare_swap(end, 0, memory, kScratch, kLock, 0, 1, IBV_SEND_SIGNALED);
    complete(end->send_cq);
  } while (load64(memory->at + kScratch) != 0);
}

static void take_turns(const struct end* data, const struct end* locks,
                       const struct memory* memory) {
  for (int i = 0; i < kTurns; i++) {
    lock(locks, memory);
    post_read(data, 0, memory, kWord, 8, kWord, IBV_SEND_SIGNALED);
    complete(data->send_cq);
    store64(memory->at + kWord, load64(memory->at + kWord) + 1);
    post_write(data, 0, memory, kWord, 8, kWord, IBV_SEND_SIGNALED);
    complete(data->send_cq);
    store64(memory->at + kLock, 0);
    post_write(locks, 0, memory, kLock, 8, kLock, IBV_SEND_SIGNALED);
    complete(locks->send_cq);
    pause_us(60);  // The other one's turn.
  }
}

static void read_sum(const struct end* data, const struct memory* memory) {
  post_read(data, 0, memory, kWord, 8, kWord, IBV_SEND_SIGNALED);
  complete(data->send_cq);
}

static void serve(void) {
  static char bytes[kBytes];
  const int listener = listen_on(5000);
  const struct end data1 = connect_by(accept_from(listener), (struct options){0});
  const struct end locks1 = connect_another(&data1, (struct options){0});
  share_memory(&data1, bytes, sizeof bytes);
  const struct end data2 =
      connect_by(accept_from(listener), (struct options){.device = &data1.device});
  const struct end locks2 = connect_another(&data2, (struct options){0});
  share_memory(&data2, bytes, sizeof bytes);
  CHECK(locks1.qp != locks2.qp);
  barrier(data1.socket);  // Both begin.
  barrier(data2.socket);
  barrier(data1.socket);  // Both are done.
  barrier(data2.socket);
  barrier(data1.socket);  // Each has read the sum, which also makes it visible here.
  barrier(data2.socket);
  CHECK_EQ(load64(bytes + kWord), 2 * kTurns);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  if (is(&run, "server")) {
    serve();
    return 0;
  }
  static char bytes[kBytes];
  const struct end data = connect_by(dial(run.peer, 5000), (struct options){0});
  const struct end locks = connect_another(&data, (struct options){0});
  const struct memory memory = share_memory(&data, bytes, sizeof bytes);
  barrier(data.socket);
  take_turns(&data, run.fixed ? &data : &locks, &memory);
  barrier(data.socket);
  read_sum(&data, &memory);
  barrier(data.socket);
  return 0;
}
