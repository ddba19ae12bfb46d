// A client writes a block on one queue pair and tells of it by a message on another one.
//
// kind: data by WRITE, notification by SEND on another queue pair
// source: thustorage/Sherman 23 (a completion does not say that data is visible)
// needs: spec
//
// buggy: sends the message when the WRITE has completed.
// fixed: reads the block back first, on the queue pair of the WRITE: that makes it visible.
#include "tests/finds/kit.h"

enum { kBlocks = 8, kBytes = 256 };

static void take_all(const struct end* notices, const struct memory* memory) {
  for (int i = 0; i < kBlocks; i++) {
    complete(notices->recv_cq);
    for (int j = 0; j < kBytes; j++) CHECK_EQ(load8(memory->at + i * kBytes + j), i + 1);
  }
}

static void write_all(const struct end* data, const struct end* notices,
                      const struct memory* memory, bool flushes) {
  const size_t scratch = kBlocks * kBytes;
  for (int i = 0; i < kBlocks; i++) {
    memset(memory->at + i * kBytes, i + 1, kBytes);
    post_write(data, i, memory, i * kBytes, kBytes, i * kBytes, IBV_SEND_SIGNALED);
    complete(data->send_cq);
    if (flushes) {
      post_read(data, i, memory, scratch, kBytes, i * kBytes, IBV_SEND_SIGNALED);
      complete(data->send_cq);
    }
    post_send(notices, i, memory, 0, 8, IBV_SEND_SIGNALED);
    complete(notices->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[(kBlocks + 1) * kBytes];
  const struct end data = connect_by(meet(&run), (struct options){0});
  const struct end notices = connect_another(&data, (struct options){0});
  const struct memory memory = share_memory(&data, bytes, sizeof bytes);
  for (int i = 0; i < kBlocks && is(&run, "server"); i++)
    post_receive(&notices, i, &memory, kBlocks * kBytes, 8);
  barrier(data.socket);
  if (is(&run, "server")) {
    take_all(&notices, &memory);
  } else {
    write_all(&data, &notices, &memory, run.fixed);
  }
  barrier(data.socket);
  return 0;
}
