// A server takes a large block for complete when its last byte is there.
//
// kind: torn WRITE
// source: ibv_query_qp_data_in_order(3), which says where that is allowed
// needs: spec
//
// buggy: watches the last byte of what a WRITE of four packets brings.
// fixed: the client writes with an immediate, whose completion covers the block.
#include "tests/finds/kit.h"

enum { kBlocks = 4, kBytes = 4096 };

static void take_all(const struct end* end, const struct memory* memory, bool fixed) {
  for (int i = 0; i < kBlocks; i++) {
    const char* block = memory->at + i * kBytes;
    if (fixed) {
      complete(end->recv_cq);
    } else {
      AWAIT(load8(block + kBytes - 1) == i + 1);
    }
    for (int j = 0; j < kBytes; j++) CHECK_EQ(load8(block + j), i + 1);
  }
}

static void write_all(const struct end* end, const struct memory* memory, bool fixed) {
  for (int i = 0; i < kBlocks; i++) {
    memset(memory->at + i * kBytes, i + 1, kBytes);
    post(end, (struct request){.opcode = fixed ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
                               .memory = memory,
                               .offset = i * kBytes,
                               .size = kBytes,
                               .peer_offset = i * kBytes,
                               .flags = IBV_SEND_SIGNALED});
    complete(end->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kBlocks * kBytes];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, bytes, sizeof bytes);
  // Immediates take a receive each, whose memory is not used.
  for (int i = 0; i < kBlocks && is(&run, "server"); i++) post_receive(&end, i, &memory, 0, 0);
  barrier(end.socket);
  if (is(&run, "server")) {
    take_all(&end, &memory, run.fixed);
  } else {
    write_all(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
