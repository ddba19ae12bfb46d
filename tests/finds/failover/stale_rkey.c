// An rkey of an earlier life: a server that has restarted gives the same number to other memory.
// kind: rkey of an earlier life
// source: https://github.com/linux-rdma/rdma-core/pull/750 (a device that came back is not the old
//   one); FaRM, NSDI 2014, section 5
// needs: faults, instants
// buggy: client a reconnects and goes on with the address and the key that it was given first.
// fixed: takes them anew from each connection, as client b always does. The server gives each
//   client memory of its own, in the order in which they come, and tells each client in the data of
//   its accept where it is. All of it is in one protection domain.
#include <string.h>

#include "tests/finds/cm.h"

enum { kPlaces = 16, kRounds = 30, kAttempts = 40 };
static bool fixed;
static char areas[kPlaces][4096] __attribute__((aligned(4096)));
struct place {
  uint64_t address;
  uint32_t rkey, unused;
};

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lanes[kPlaces] = {0};
  struct ibv_mr* mrs[kPlaces];
  struct ibv_pd* pd = NULL;
  listen_at(channel, kPort, 8);
  for (int n = 0;;) {
    struct rdma_cm_event* event = next_event(channel, -1);
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    char name[2] = "";
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) memcpy(name, event->param.conn.private_data, 1);
    rdma_ack_cm_event(event);
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
    if (type == RDMA_CM_EVENT_DISCONNECTED) rdma_disconnect(id);
    if (type != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
    if (n == kPlaces) give_up("too many clients");
    if (!pd) pd = ibv_alloc_pd(id->verbs);
    if (!pd || !lane_open_in(&lanes[n], id, pd)) give_up("a queue pair");
    mrs[n] = ibv_reg_mr(pd, areas[n], 4096,
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    if (!mrs[n]) give_up("ibv_reg_mr");
    memset(areas[n], 0, 4096);
    const struct place place = {(uintptr_t)areas[n], mrs[n]->rkey, 0};
    struct rdma_conn_param p = params(7, 7, &place, sizeof place);
    if (rdma_accept(id, &p) == 0)
      ++n;
    else
      lane_close(&lanes[n]);
  }
}

static bool connect_to(const char* host, struct lane* lane, char name, struct place* place) {
  struct rdma_event_channel* channel = open_channel();
  struct rdma_cm_id* id;
  NEED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
  if (!resolve(id, host, kPort)) give_up("the address is not resolved");
  if (!lane_open(lane, id)) give_up("a queue pair");
  struct rdma_conn_param p = params(2, 7, &name, 1);
  NEED(rdma_connect(id, &p));
  struct rdma_cm_event* event = next_event(channel, kPatience);
  if (!event) give_up("no server");
  const bool there = event->event == RDMA_CM_EVENT_ESTABLISHED;
  if (there && (fixed || name != 'a' || place->rkey == 0))
    memcpy(place, event->param.conn.private_data, sizeof *place);
  rdma_ack_cm_event(event);
  if (!there) lane_close(lane);
  return there;
}

static bool done_well(struct lane* lane) {
  struct ibv_wc wc;
  return next_wc(lane, &wc, kPatience) && wc.status == IBV_WC_SUCCESS;
}

// Writes its name and a number over and over, and reads back what is there: its own.
static int talk_as(const char* host, char name) {
  struct place place = {0};
  struct lane lane = {0};
  int number = 0, attempts = 0;
  while (number < kRounds) {
    if (!lane.id && !connect_to(host, &lane, name, &place)) {
      if (++attempts == kAttempts) give_up("no server");
      sleep_us(name == 'a' ? 20000 : 13000);
      continue;
    }
    memset(slot(&lane, 0), name, kSlot);
    if (post_rdma(&lane, 0, kSlot, IBV_WR_RDMA_WRITE, place.address, place.rkey) == 0 &&
        done_well(&lane)) {
      sleep_us(10000);
      if (post_rdma(&lane, 1, kSlot, IBV_WR_RDMA_READ, place.address, place.rkey) == 0 &&
          done_well(&lane)) {
        CHECK(*slot(&lane, 1) == name);
        ++number;
        continue;
      }
    }
    rdma_disconnect(lane.id);
    lane_close(&lane);
  }
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  return talk_as(host, 'a');
}

int main(int argc, char** argv) {
  const int status = argc == 5 ? 0 : by_role(argc, argv, &fixed, serve, talk);
  if (argc != 5) return status;
  fixed = strcmp(argv[1], "fixed") == 0;
  return talk_as(argv[3], argv[4][0]);
}
