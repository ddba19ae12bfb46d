// A client takes a slot of its ring of messages again because enough requests have been posted
// since.
//
// kind: source reused before completion
// source: ibv_post_send(3), on when buffers may be used again
// needs: spec
//
// buggy: counts requests that have been posted: the ninth one takes the first one's slot.
// fixed: counts requests that have completed; each fourth one is signalled, and its completion is
//   that of four.
// fails: always
#include "tests/finds/kit.h"

enum { kSlots = 8, kMessages = 40, kSignalled = 4, kBytes = 64 };

struct message {
  uint64_t number;
  uint64_t words[kBytes / 8 - 1];
};

static void send_all(const struct end* end, const struct memory* memory, bool counts_completed) {
  int completed = 0;
  for (int posted = 0; posted < kMessages; posted++) {
    while (counts_completed && posted - completed >= kSlots) {
      complete(end->send_cq);
      completed += kSignalled;
    }
    struct message* message = (struct message*)memory->at + posted % kSlots;
    message->number = posted;
    for (unsigned i = 0; i < kBytes / 8 - 1; i++) message->words[i] = posted * 1000 + i;
    const bool signalled = posted % kSignalled == kSignalled - 1;
    post_send(end, posted, memory, posted % kSlots * kBytes, kBytes,
              signalled ? IBV_SEND_SIGNALED : 0);
  }
  for (; completed < kMessages; completed += kSignalled) complete(end->send_cq);
}

static void take_all(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kMessages; i++) {
    complete(end->recv_cq);
    const struct message* message = (const struct message*)memory->at + i;
    CHECK_EQ(message->number, i);
    CHECK_EQ(message->words[2], i * 1000 + 2);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[kMessages * kBytes];
  const struct end end =
      connect_by(meet(&run), (struct options){.sends = kMessages, .receives = kMessages});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < kMessages && is(&run, "server"); i++)
    post_receive(&end, i, &memory, i * kBytes, kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    take_all(&end, &memory);
  } else {
    send_all(&end, &memory, run.fixed);
  }
  barrier(end.socket);
  return 0;
}
