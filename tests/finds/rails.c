#include "tests/finds/rails.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kAckTimeout = 12 };  // 4.096 us << 12: 17 ms

uint64_t own_life(void) {
  static uint64_t life;
  struct timespec t;
  if (life) return life;
  clock_gettime(CLOCK_REALTIME, &t);
  return life = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// ---- The client

// On the rail's completion queue, if it has one.
static bool make_pair(struct lane* lane, struct rdma_cm_id* id) {
  if (!lane->cq) return lane_open(lane, id);
  struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .send_cq = lane->cq, .recv_cq = lane->cq};
  attr.cap = (struct ibv_qp_cap){
      .max_send_wr = 32, .max_recv_wr = 32, .max_send_sge = 1, .max_recv_sge = 1};
  return rdma_create_qp(id, lane->pd, &attr) == 0;
}

static bool establish(struct rail* rail, int number, const char* host) {
  unsigned a, b, c, d;
  char address[32];
  uint8_t timeout = kAckTimeout;
  struct rdma_cm_id* id;
  if (sscanf(host, "%u.%u.%u.%u", &a, &b, &c, &d) != 4) give_up("an address is four numbers");
  snprintf(address, sizeof address, "%u.%u.%u.%u", a, b, c + (unsigned)number, d);
  if (rdma_create_id(rail->channel, &id, NULL, RDMA_PS_TCP)) return false;
  rail->lane.id = id;
  if (!resolve(id, address, kPort) || !make_pair(&rail->lane, id)) return false;
  if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout))
    return false;
  const uint64_t life = own_life();
  struct rdma_conn_param p = params(1, 7, &life, sizeof life);
  if (rdma_connect(id, &p)) return false;
  struct rdma_cm_event* event = next_event(rail->channel, kPatience);
  if (!event) return false;
  const bool established = event->event == RDMA_CM_EVENT_ESTABLISHED &&
                           event->param.conn.private_data_len >= sizeof rail->place;
  if (established) memcpy(&rail->place, event->param.conn.private_data, sizeof rail->place);
  rdma_ack_cm_event(event);
  return established;
}

bool rail_connect(struct rail* rail, int number, const char* host) {
  static uint64_t life;  // of the server
  *rail = (struct rail){.channel = open_channel()};
  rail->up = establish(rail, number, host);
  if (!rail->up) {
    rail_close(rail);
    return false;
  }
  if (life == 0) life = rail->place.life;
  if (life != rail->place.life) give_up("the server has begun anew");
  return true;
}

bool rail_renew(struct rail* rail, int number, const char* host) {
  rail->channel = open_channel();
  return rail->up = establish(rail, number, host);
}

void rails_connect(struct rail* rails, const char* host) {
  for (int n = 0; n < kRails; ++n)
    if (!rail_connect(&rails[n], n, host)) give_up("a rail is not there from the beginning");
}

void rail_close(struct rail* rail) {
  if (rail->lane.id) rdma_disconnect(rail->lane.id);
  lane_close(&rail->lane);
  if (rail->channel) rdma_destroy_event_channel(rail->channel);
  *rail = (struct rail){0};
}

bool rail_alive(struct rail* rail) {
  struct ibv_wc wc;
  if (!rail->up || post_rdma(&rail->lane, 0, 0, IBV_WR_RDMA_WRITE, 0, 0)) return false;
  while (next_wc(&rail->lane, &wc, 60000)) {
    if (wc.status != IBV_WC_SUCCESS) return false;
    if (wc.opcode == IBV_WC_RDMA_WRITE && wc.wr_id == 100) return true;
  }
  return false;
}

// ---- The server

void served_close(struct served* served) {
  if (served->lane.id && served->lane.id->qp) rdma_destroy_qp(served->lane.id);
  if (served->mr) ibv_dereg_mr(served->mr);
  lane_close(&served->lane);
  *served = (struct served){0};
}

// A client that was started again has no use for the connections of its earlier life, whose late
// messages would do harm. Nobody asks for such a connection any more.
static void admit(struct server* server, struct rdma_cm_id* id, uint64_t life) {
  struct served* served = server->all;
  for (int i = 0; i < kServed; ++i)
    if (server->all[i].lane.id && server->all[i].life < life) served_close(&server->all[i]);
  if (life < server->life) {
    rdma_destroy_id(id);
    return;
  }
  server->life = life;
  while (served < server->all + kServed && served->lane.id) ++served;
  if (served == server->all + kServed) give_up("too many connections");
  bool good = lane_open(&served->lane, id);
  if (good)
    served->mr = ibv_reg_mr(served->lane.pd, server->page, server->bytes,
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  good = good && served->mr;
  for (int i = 0; good && i < server->receives; ++i) good = post_recv(&served->lane, i) == 0;
  if (good) {
    const struct place place = {(uintptr_t)server->page, own_life(), served->mr->rkey, 0};
    struct rdma_conn_param p = params(1, 7, &place, sizeof place);
    served->life = life;
    good = rdma_accept(id, &p) == 0;
  }
  if (!good) served_close(served);
}

static void take_event(struct server* server, struct rdma_cm_event* event) {
  const enum rdma_cm_event_type type = event->event;
  struct rdma_cm_id* id = event->id;
  uint64_t life = 0;
  if (type == RDMA_CM_EVENT_CONNECT_REQUEST && event->param.conn.private_data_len >= sizeof life)
    memcpy(&life, event->param.conn.private_data, sizeof life);
  rdma_ack_cm_event(event);
  struct served* served = server->all;
  while (served < server->all + kServed && served->lane.id != id) ++served;
  const bool known = served < server->all + kServed;
  switch (type) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      return admit(server, id, life);
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      if (!known) give_up("the device is gone");
      return served_close(served);
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_REJECTED:
      if (known) served_close(served);
      return;
    default:
      return;
  }
}

static void take_messages(struct server* server, struct served* served) {
  struct ibv_wc wc;
  while (served->lane.id && served->lane.id->qp && next_wc(&served->lane, &wc, 0)) {
    if (wc.status != IBV_WC_SUCCESS) {
      if (wc.status != IBV_WC_WR_FLUSH_ERR) rdma_disconnect(served->lane.id);
      continue;
    }
    if (!(wc.opcode & IBV_WC_RECV)) continue;
    server->on_message(server, served, &wc);
    if (served->lane.id && post_recv(&served->lane, (int)wc.wr_id))
      rdma_disconnect(served->lane.id);
  }
}

void server_step(struct server* server) {
  struct rdma_cm_event* event = next_event(server->channel, 0);
  if (event) take_event(server, event);
  for (int i = 0; i < kServed; ++i) take_messages(server, &server->all[i]);
}

int serve_rails(struct server* server) {
  server->channel = open_channel();
  listen_at(server->channel, kPort, 8);
  for (;;) {
    struct lane lanes[kServed];
    server_step(server);
    for (int i = 0; i < kServed; ++i) lanes[i] = server->all[i].lane;
    wait_any(server->channel, lanes, kServed, -1);
  }
}
