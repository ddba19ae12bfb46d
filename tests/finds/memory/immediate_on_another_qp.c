// A server counts WRITEs with an immediate on one queue pair, and believes that the data on another
// one is there, too.
//
// kind: WRITE with immediate counted, data of an earlier WRITE on another queue pair assumed
// source: deepseek-ai/DeepEP 282 (counts of what was sent over other queue pairs)
// needs: spec
//
// buggy: stripes go over queue pair 1, and the immediate that counts them over queue pair 2, posted
//   when they have completed.
// fixed: the immediate goes over the queue pair of the stripes.
#include "tests/finds/kit.h"

enum { kRounds = 8, kStripes = 3, kBytes = 64, kRound = kStripes * kBytes };

static void take_all(const struct end* counts, const struct memory* memory) {
  for (int i = 0; i < kRounds; i++) {
    const struct ibv_wc wc = complete(counts->recv_cq);
    CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    for (int j = 0; j < kRound; j++) CHECK_EQ(load8(memory->at + i * kRound + j), i + 1);
  }
}

static void write_all(const struct end* data, const struct end* counts,
                      const struct memory* memory) {
  for (int i = 0; i < kRounds; i++) {
    memset(memory->at + i * kRound, i + 1, kRound);
    for (int j = 0; j < kStripes; j++) {
      const size_t at = i * kRound + j * kBytes;
      post_write(data, i, memory, at, kBytes, at, IBV_SEND_SIGNALED);
    }
    for (int j = 0; j < kStripes; j++) complete(data->send_cq);
    post(counts, (struct request){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                  .memory = memory,
                                  .flags = IBV_SEND_SIGNALED,
                                  .immediate = kStripes});
    complete(counts->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kRounds * kRound];
  const struct end data = connect_by(meet(&run), (struct options){0});
  const struct end other = connect_another(&data, (struct options){0});
  const struct end* counts = run.fixed ? &data : &other;
  const struct memory memory = share_memory(&data, bytes, sizeof bytes);
  for (int i = 0; i < kRounds && is(&run, "server"); i++) post_receive(counts, i, &memory, 0, 0);
  barrier(data.socket);
  if (is(&run, "server")) {
    take_all(counts, &memory);
  } else {
    write_all(&data, counts, &memory);
  }
  barrier(data.socket);
  return 0;
}
