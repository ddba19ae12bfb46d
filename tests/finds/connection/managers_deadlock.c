// Two connection managers wait for each other. Either side connects to the other once it has
// something to say, in its only event thread, and waits there until the connection is made.
// kind: deadlock of two connection managers
// source: https://github.com/ofiwg/libfabric/issues/10359 (all to all)
// needs: faults
// buggy: takes only the events of its own id meanwhile, and keeps all others for later: when both
//   connect at the same time, neither accepts.
// fixed: serves the other's request while it waits. Both sides are there, so both connections have
//   to come about.
#include <string.h>

#include "tests/finds/cm.h"

static bool fixed;
static struct lane mine, theirs;

static void accept_one(struct rdma_cm_id* id) {
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  if (!lane_open(&theirs, id)) give_up("a queue pair");
  NEED(rdma_accept(id, &p));
}

// The next event of anybody: its type, its id.
static enum rdma_cm_event_type take(struct rdma_event_channel* channel, struct rdma_cm_id** id) {
  struct rdma_cm_event* event = next_event(channel, 60000);
  if (!event) broken("both sides wait for each other");
  const enum rdma_cm_event_type type = event->event;
  *id = event->id;
  rdma_ack_cm_event(event);
  return type;
}

static void connect_to(struct rdma_event_channel* channel, const char* host,
                       struct rdma_cm_id** waiting, int* established) {
  struct rdma_cm_id* id;
  // Its address is known before it has something to say: an id of a channel of its own until then.
  struct rdma_event_channel* before = open_channel();
  NEED(rdma_create_id(before, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  NEED(rdma_migrate_id(id, channel));
  rdma_destroy_event_channel(before);
  if (!lane_open(&mine, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_connect(id, &p));
  for (;;) {
    struct rdma_cm_id* of;
    const enum rdma_cm_event_type type = take(channel, &of);
    if (type == RDMA_CM_EVENT_ESTABLISHED) ++*established;
    if (of == id && type == RDMA_CM_EVENT_ESTABLISHED) return;
    if (of == id && type != RDMA_CM_EVENT_ADDR_CHANGE) give_up("the connection is refused");
    if (type != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    if (fixed)
      accept_one(of);
    else
      *waiting = of;
  }
}

static int run(const char* host, int64_t idle_us) {
  struct rdma_event_channel* channel = open_channel();
  struct rdma_cm_id* waiting = NULL;
  int established = 0;
  listen_at(channel, kPort, 4);
  // Serves whoever comes first, until there is something to say.
  if (readable(channel->fd, (int)(idle_us / 1000))) {
    struct rdma_cm_id* of;
    if (take(channel, &of) != RDMA_CM_EVENT_CONNECT_REQUEST) give_up("another event");
    accept_one(of);
  }
  connect_to(channel, host, &waiting, &established);
  if (waiting) accept_one(waiting);
  while (established < 2) {
    struct rdma_cm_id* of;
    const enum rdma_cm_event_type type = take(channel, &of);
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
      accept_one(of);
    else if (type == RDMA_CM_EVENT_ESTABLISHED)
      ++established;
    else if (type != RDMA_CM_EVENT_ADDR_CHANGE)
      give_up("the peer has gone");
  }
  sleep_us(100000);  // the peer may still be at it
  return 0;
}

// The server has something to say after 30 ms, the client, who starts 10 ms later, at once.
static int serve(void) {
  return run("10.0.0.2", 30000);
}
static int talk(const char* host) {
  return run(host, 19000);
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
