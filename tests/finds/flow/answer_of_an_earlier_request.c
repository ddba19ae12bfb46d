// A client gives up a request after a while and uses its number again; the late answer is taken for
// the new one's.
//
// kind: request matched wrongly after a timeout
// source: kvcache-ai/Mooncake 3584 (a stale reply of an earlier generation)
// needs: order, faults
//
// buggy: an answer names the slot of its request.
// fixed: it also names how often the slot has been used, and an answer of an earlier use is
//   dropped.
#include "tests/finds/kit.h"

enum { kRequests = 20, kTimeoutUs = 90, kWorkUs = 30 };

struct message {
  uint64_t slot, generation, value;
};

enum { kBytes = sizeof(struct message), kSlots = 24 };

/// Answers with the square.
static void serve(const struct end* end, const struct memory* memory) {
  struct message* messages = (struct message*)memory->at;
  for (int i = 0; i < kRequests; i++) {
    const struct ibv_wc wc = complete(end->recv_cq);
    messages[0] = messages[wc.wr_id];
    messages[0].value *= messages[0].value;
    pause_us(kWorkUs);
    post_send(end, 0, memory, 0, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
    post_receive(end, wc.wr_id, memory, wc.wr_id * kBytes, kBytes);
  }
}

/// Whether an answer has come in time; -1 is none.
static long wait_for_answer(const struct end* end, const struct memory* memory, uint64_t generation,
                            bool fixed) {
  const struct message* messages = (const struct message*)memory->at;
  for (const uint64_t until = now_us() + kTimeoutUs; now_us() < until; pause_us(12)) {
    struct ibv_wc wc;
    if (!poll_once(end->recv_cq, &wc)) continue;
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    const struct message answer = messages[wc.wr_id];
    post_receive(end, wc.wr_id, memory, wc.wr_id * kBytes, kBytes);
    if (!fixed || answer.generation == generation) return (long)answer.value;
  }
  return -1;
}

static void ask(const struct end* end, const struct memory* memory, bool fixed) {
  for (uint64_t i = 0; i < kRequests; i++) {
    *(struct message*)memory->at = (struct message){.generation = i, .value = i};
    post_send(end, i, memory, 0, kBytes, IBV_SEND_SIGNALED);
    complete(end->send_cq);
    const long answer = wait_for_answer(end, memory, i, fixed);
    if (answer >= 0) CHECK_EQ(answer, i * i);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static struct message messages[kSlots];  // The first one is sent.
  const struct end end = connect_by(meet(&run), (struct options){0});
  const struct memory memory = own_memory(&end, messages, sizeof messages);
  for (int i = 1; i < kSlots; i++) post_receive(&end, i, &memory, i * kBytes, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory);
  } else {
    ask(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
