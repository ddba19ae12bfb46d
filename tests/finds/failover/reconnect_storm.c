// Everybody reconnects at the same instant, and the server's backlog is full.
// kind: reconnect storm
// source: https://github.com/kvcache-ai/Mooncake/pull/3387
// needs: faults, instants
// buggy: all connections that have been lost are asked for again at once, and again after each
//   timeout, three times.
// fixed: one after another, later ones later. A server prepares for a millisecond before it
//   accepts, and has a backlog of one. Who is connected looks after all its connections at every
//   tenth of a second. While the server is there, all of them have to come back.
#include <string.h>

#include "tests/finds/cm.h"

enum { kLanes = 6, kRounds = 3, kTimeout = 100, kTicks = 10 };
static bool fixed;
static struct client {
  struct lane lane;
  bool up;
} clients[kLanes];

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 1);
  for (;;) {
    struct rdma_cm_event* event = next_event(channel, -1);
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    rdma_ack_cm_event(event);
    struct rdma_conn_param p = params(7, 7, NULL, 0);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
    if (type == RDMA_CM_EVENT_DISCONNECTED) rdma_disconnect(id);
    if (type != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    struct lane lane;
    sleep_us(1000);
    if (!lane_open(&lane, id) || rdma_accept(id, &p) != 0) lane_close(&lane);
  }
}

static void prepare(struct rdma_event_channel* channel, struct client* c, const char* host) {
  struct rdma_cm_id* id;
  struct rdma_event_channel* before = open_channel();
  NEED(rdma_create_id(before, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  NEED(rdma_migrate_id(id, channel));
  rdma_destroy_event_channel(before);
  if (!lane_open(&c->lane, id)) give_up("a queue pair");
}

// Takes events until as many are up, or the time is over.
static int await_up(struct rdma_event_channel* channel, int wanted, int64_t until) {
  int up = 0;
  for (int i = 0; i < kLanes; ++i) up += clients[i].up;
  while (up < wanted && now_us() < until) {
    struct rdma_cm_event* event = next_event(channel, (int)((until - now_us()) / 1000));
    if (!event) break;
    for (int i = 0; i < kLanes; ++i) {
      if (clients[i].lane.id != event->id || event->event != RDMA_CM_EVENT_ESTABLISHED) continue;
      clients[i].up = true;
      ++up;
    }
    rdma_ack_cm_event(event);
  }
  return up;
}

// How many are up after one round.
static int connect_all(struct rdma_event_channel* channel, const char* host) {
  int asked = kLanes;
  for (int i = 0; i < kLanes; ++i) asked -= !clients[i].up;
  for (int i = 0; i < kLanes; ++i) {
    if (clients[i].up) continue;
    prepare(channel, &clients[i], host);
  }
  for (int i = 0; i < kLanes; ++i) {
    if (clients[i].up) continue;
    struct rdma_conn_param p = params(2, 7, NULL, 0);
    NEED(rdma_connect(clients[i].lane.id, &p));
    if (fixed) await_up(channel, ++asked, now_us() + 4 * kTimeout * 1000);
  }
  const int up = await_up(channel, kLanes, now_us() + kTimeout * 1000);
  for (int i = 0; i < kLanes; ++i)
    if (!clients[i].up) lane_close(&clients[i].lane);
  return up;
}

static bool is_alive(struct lane* lane) {
  struct ibv_wc wc;
  return post_rdma(lane, 0, 0, IBV_WR_RDMA_WRITE, 0, 0) == 0 && next_wc(lane, &wc, kPatience) &&
         wc.status == IBV_WC_SUCCESS;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  for (int i = 0; i < kLanes; ++i) {
    prepare(channel, &clients[i], host);
    struct rdma_conn_param p = params(2, 7, NULL, 0);
    NEED(rdma_connect(clients[i].lane.id, &p));
    if (await_up(channel, i + 1, now_us() + kPatience * 1000) != i + 1) give_up("no server");
  }
  for (int tick = 0; tick < kTicks; ++tick) {
    sleep_us(100000 - now_us() % 100000);
    int up = kLanes;
    for (int i = 0; i < kLanes; ++i) {
      if (is_alive(&clients[i].lane)) continue;
      clients[i].up = false;
      rdma_disconnect(clients[i].lane.id);
      lane_close(&clients[i].lane);
      --up;
    }
    if (up == kLanes) continue;
    for (int round = 0; round < kRounds && up < kLanes; ++round) up = connect_all(channel, host);
    int alive = 0;
    for (int i = 0; i < kLanes; ++i) alive += clients[i].up && is_alive(&clients[i].lane);
    if (alive == 0 || fixed) {
      if (up < kLanes) give_up("the server has not come back in time");
    }
    CHECK(up == kLanes);
  }
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
