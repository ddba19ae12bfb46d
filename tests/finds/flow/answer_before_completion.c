// The answer to a request comes before the completion of the SEND that asked, and the request is
// free too early.
//
// kind: completion of a request that has been freed
// source: ydb-platform/nbs 481
// needs: order, points
//
// buggy: an answer frees the request; the completion of its SEND then finds a request that is free,
//   or another one's.
// fixed: a request is free when both have come.
#include "tests/finds/kit.h"

enum { kRequests = 30, kSlots = 2, kBytes = 8 };

struct slot {
  bool used, sent, answered;
  uint64_t request;
};

struct client {
  const struct end* end;
  const struct memory* memory;
  struct slot slots[kSlots];
  int done;
  bool fixed;
};

static void finish_if_done(struct client* client, struct slot* slot) {
  if (!slot->answered || (client->fixed && !slot->sent)) return;
  *slot = (struct slot){0};
  client->done++;
}

static void take(struct client* client) {
  struct ibv_wc wc;
  if (poll_once(client->end->send_cq, &wc)) {
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    struct slot* slot = &client->slots[wc.wr_id % kSlots];
    CHECK(slot->used);
    CHECK_EQ(slot->request, wc.wr_id / kSlots);
    slot->sent = true;
    finish_if_done(client, slot);
  }
  if (poll_once(client->end->recv_cq, &wc)) {
    CHECK_EQ(wc.status, IBV_WC_SUCCESS);
    struct slot* slot = &client->slots[load64(client->memory->at + 8 * (8 + wc.wr_id))];
    post_receive(client->end, wc.wr_id, client->memory, 8 * (8 + wc.wr_id), kBytes);
    CHECK(slot->used);
    slot->answered = true;
    finish_if_done(client, slot);
  }
}

static void ask_all(struct client* client) {
  uint64_t asked = 0;
  struct patience patience = patience_ms(10000);
  while (client->done < kRequests) {
    for (uint64_t i = 0; i < kSlots && asked < kRequests; i++) {
      if (client->slots[i].used) continue;
      client->slots[i] = (struct slot){.used = true, .request = asked};
      store64(client->memory->at, i);
      post_send(client->end, asked++ * kSlots + i, client->memory, 0, kBytes,
                IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    }
    take(client);
    CHECK(nap(&patience));
    if (patience.nap_us > 16) patience.nap_us = 16;
  }
}

static void serve(const struct end* end, const struct memory* memory) {
  for (int i = 0; i < kRequests; i++) {
    const struct ibv_wc wc = complete(end->recv_cq);
    store64(memory->at, load64(memory->at + 8 * (8 + wc.wr_id)));
    post_receive(end, wc.wr_id, memory, 8 * (8 + wc.wr_id), kBytes);
    post_send(end, 0, memory, 0, kBytes, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    complete(end->send_cq);
  }
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  static char bytes[16 * kBytes];
  const struct end end =
      connect_by(meet(&run), (struct options){.inline_bytes = kBytes, .sends = 2 * kRequests});
  const struct memory memory = own_memory(&end, bytes, sizeof bytes);
  for (int i = 0; i < 8; i++) post_receive(&end, i, &memory, 8 * (8 + i), kBytes);
  barrier(end.socket);
  if (is(&run, "server")) {
    serve(&end, &memory);
  } else {
    struct client client = {.end = &end, .memory = &memory, .fixed = run.fixed};
    ask_all(&client);
  }
  barrier(end.socket);
  return 0;
}
