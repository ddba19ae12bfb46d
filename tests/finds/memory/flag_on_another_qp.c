// A client writes data on one queue pair and the flag that it is there on another one.
//
// kind: flag before data, two queue pairs
// source: linux-rdma/rdma-core 1780
// needs: spec
//
// buggy: the flag is posted on the second queue pair once the data's WRITE has completed, which
//   says only that the server's device has accepted it.
// fixed: data and flag take the same queue pair.
#include "tests/finds/kit.h"

enum { kRounds = 10 };

struct round {
  uint64_t data;
  char gap[120];
  uint64_t flag;
  char gap2[120];
};

static void take_all(const struct round* rounds) {
  for (int i = 0; i < kRounds; i++) {
    AWAIT(load64(&rounds[i].flag) != 0);
    CHECK_EQ(load64(&rounds[i].data), 1000 + i);
  }
}

static void write_all(const struct end* for_data, const struct end* for_flags,
                      const struct memory* memory) {
  struct round* rounds = (struct round*)memory->at;
  for (int i = 0; i < kRounds; i++) {
    const size_t data = (char*)&rounds[i].data - memory->at;
    const size_t flag = (char*)&rounds[i].flag - memory->at;
    rounds[i] = (struct round){.data = 1000 + i, .flag = 1};
    post_write(for_data, i, memory, data, 8, data, IBV_SEND_SIGNALED);
    complete(for_data->send_cq);
    post_write(for_flags, i, memory, flag, 8, flag, IBV_SEND_SIGNALED);
    complete(for_flags->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static struct round rounds[kRounds];
  const struct end data = connect_by(meet(&run), (struct options){0});
  const struct end flags = connect_another(&data, (struct options){0});
  const struct memory memory = share_memory(&data, rounds, sizeof rounds);
  if (is(&run, "server")) {
    take_all(rounds);
  } else {
    write_all(&data, run.fixed ? &data : &flags, &memory);
  }
  barrier(data.socket);
  return 0;
}
