// A port of the server flaps: its handler destroys the queue pairs of that device, and the handler
// of the disconnections that follow uses one of them.
// kind: port flap that crashes the server
// source: https://github.com/llm-d/llm-d/issues/191 (a port that flaps ends the server);
//   https://github.com/spdk/spdk/issues/1520
// needs: faults
// buggy: looks at the queue pair of a connection whose disconnection it is told of.
// fixed: knows that the other handler may have destroyed it.
#include <poll.h>
#include <stdio.h>

#include "tests/finds/rails.h"

enum { kMessages = 24 };
static bool fixed;
static struct rail rails[kRails];
static struct lane lanes[kServed];
static struct ibv_context* devices[kRails];

static void port_failed(struct ibv_context* device) {
  for (int i = 0; i < kServed; ++i)
    if (lanes[i].id && lanes[i].id->verbs == device && lanes[i].id->qp)
      rdma_destroy_qp(lanes[i].id);
}

static void disconnected(struct lane* lane) {
  if (!fixed || lane->id->qp) printf("queue pair %u ends\n", lane->id->qp->qp_num);
  lane_close(lane);
}

static void admit(struct rdma_cm_id* id) {
  struct lane* lane = lanes;
  while (lane < lanes + kServed && lane->id) ++lane;
  if (lane == lanes + kServed) give_up("too many connections");
  if (!lane_open(lane, id)) give_up("a queue pair");
  for (int i = 0; i < 16; ++i) NEED(post_recv(lane, i));
  const struct place place = {(uintptr_t)lane->memory, own_life(), lane->mr->rkey, 0};
  struct rdma_conn_param p = params(1, 7, &place, sizeof place);
  if (rdma_accept(id, &p)) return lane_close(lane);
  for (int n = 0; n < kRails; ++n) {
    if (devices[n] == id->verbs) return;
    if (devices[n]) continue;
    devices[n] = id->verbs;
    return;
  }
}

static void take_event(struct rdma_event_channel* channel) {
  struct rdma_cm_event* event = next_event(channel, 0);
  if (!event) return;
  const enum rdma_cm_event_type type = event->event;
  struct rdma_cm_id* id = event->id;
  rdma_ack_cm_event(event);
  if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("a device is gone");
  if (type == RDMA_CM_EVENT_CONNECT_REQUEST) admit(id);
  if (type != RDMA_CM_EVENT_DISCONNECTED && type != RDMA_CM_EVENT_CONNECT_ERROR &&
      type != RDMA_CM_EVENT_UNREACHABLE)
    return;
  for (int i = 0; i < kServed; ++i)
    if (lanes[i].id == id) return disconnected(&lanes[i]);
}

static int serve(void) __attribute__((noreturn));
static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 8);
  for (;;) {
    struct pollfd fds[1 + kRails + kServed] = {{.fd = channel->fd, .events = POLLIN}};
    for (int n = 0; n < kRails; ++n)
      fds[1 + n] = (struct pollfd){.fd = devices[n] ? devices[n]->async_fd : -1, .events = POLLIN};
    for (int i = 0; i < kServed; ++i)
      fds[1 + kRails + i] =
          (struct pollfd){.fd = lanes[i].comp ? lanes[i].comp->fd : -1, .events = POLLIN};
    poll(fds, sizeof fds / sizeof *fds, -1);
    take_event(channel);
    for (int n = 0; n < kRails; ++n) {
      struct ibv_async_event event;
      if (!devices[n] || !readable(devices[n]->async_fd, 0) ||
          ibv_get_async_event(devices[n], &event))
        continue;
      const enum ibv_event_type type = event.event_type;
      ibv_ack_async_event(&event);
      if (type == IBV_EVENT_PORT_ERR) port_failed(devices[n]);
    }
    for (int i = 0; i < kServed; ++i) {
      struct ibv_wc wc;
      while (lanes[i].id && lanes[i].id->qp && next_wc(&lanes[i], &wc, 0))
        if (wc.status == IBV_WC_SUCCESS) post_recv(&lanes[i], (int)wc.wr_id);
    }
  }
}

static int talk(const char* host) {
  int use = 0;
  rails_connect(rails, host);
  for (int n = 0; n < kMessages; ++n) {
    struct ibv_wc wc;
    while (use < kRails &&
           (post_send(&rails[use].lane, n) || !next_wc(&rails[use].lane, &wc, kPatience) ||
            wc.status != IBV_WC_SUCCESS))
      ++use;
    if (use == kRails) give_up("no rail is left");
    sleep_us(500);
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
