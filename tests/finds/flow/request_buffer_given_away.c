// A server fetches a request by READ when it has time; a client that has given the request up uses
// the buffer for the next one.
//
// kind: buffer given away while a peer may read it
// source: ydb-platform/nbs 5708, 5729
// needs: order, faults
//
// buggy: after a timeout the buffer is free for the next request, and the server carries the next
//   one out twice.
// fixed: the buffer of a request that was given up is not used again.
#include "tests/finds/kit.h"

enum { kRequests = 16, kTimeoutUs = 150, kWorkUs = 20, kBytes = 8, kNotices = 32 };

/// A notice is the offset of a request, and "done" the same offset.
static void serve(const struct end* end, const struct memory* memory) {
  static int carried_out[kRequests];
  uint64_t* words = (uint64_t*)memory->at;
  for (int i = 0; i < kRequests; i++) {
    const struct ibv_wc wc = complete(end->recv_cq);
    const uint64_t offset = words[wc.wr_id];
    pause_us(kWorkUs);  // It has other requests, too.
    post_read(end, 0, memory, 0, kBytes, offset, IBV_SEND_SIGNALED);
    complete(end->send_cq);
    const uint64_t request = load64(&words[0]);
    CHECK(request < kRequests);
    CHECK_EQ(++carried_out[request], 1);
    words[1] = offset;
    post_send(end, 0, memory, kBytes, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
  }
}

static bool is_done_in_time(const struct end* end, const uint64_t* words, uint64_t offset) {
  for (const uint64_t until = now_us() + kTimeoutUs; now_us() < until; pause_us(12)) {
    struct ibv_wc wc;
    if (!poll_once(end->recv_cq, &wc)) continue;
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    if (words[wc.wr_id] == offset) return true;
  }
  return false;
}

static void ask(const struct end* end, const struct memory* memory, bool fixed) {
  uint64_t* words = (uint64_t*)memory->at;
  uint64_t next = 2;  // Words from here on are buffers, and the receives are behind them.
  for (uint64_t i = 0; i < kRequests; i++) {
    words[next] = i;
    words[0] = next * kBytes;
    post_send(end, 0, memory, 0, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
    const bool done = is_done_in_time(end, words, next * kBytes);
    if (!done && fixed) next++;
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static uint64_t words[2 + kRequests + kNotices];
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = share_memory(&end, words, sizeof words);
  for (int i = 0; i < kRequests; i++) {
    const size_t word = 2 + kRequests + i;
    post_receive(&end, word, &memory, word * kBytes, kBytes);
  }
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory);
  } else {
    ask(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
