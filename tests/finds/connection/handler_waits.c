// The handler of an event waits for a completion that only comes once another event has been
// handled. A client has two connections, control and data, and greets on control when both are
// there.
// kind: event handler that blocks on a completion
// source: https://github.com/zrlio/disni/issues/41 is of this kind
// needs: points, faults
// buggy: the server's handler of ESTABLISHED waits for the greeting, in the thread that would
//   accept the other connection.
// fixed: looks for the greeting when a completion has come, and goes on taking events.
#include <poll.h>
#include <string.h>

#include "tests/finds/cm.h"

static bool fixed;
static struct lane lanes[2];

static bool greeted(int ms) {
  struct ibv_wc wc;
  if (!next_wc(&lanes[0], &wc, ms)) return false;
  if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
  return true;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  int established = 0;
  bool greeting = false;
  listen_at(channel, kPort, 4);
  while (established < 2 || !greeting) {
    const bool control = lanes[0].comp != NULL;
    struct pollfd fds[2] = {{channel->fd, POLLIN, 0},
                            {control && !greeting ? lanes[0].comp->fd : -1, POLLIN, 0}};
    if (control && fixed && !greeting && greeted(0))
      greeting = true;
    else if (poll(fds, 2, 100000) <= 0)
      give_up("silence");
    if (!fds[0].revents) continue;
    struct rdma_cm_event* event = next_event(channel, 0);
    if (!event) continue;
    const enum rdma_cm_event_type type = event->event;
    struct rdma_cm_id* id = event->id;
    char n = 0;
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) memcpy(&n, event->param.conn.private_data, 1);
    rdma_ack_cm_event(event);
    struct rdma_conn_param p = params(7, 7, NULL, 0);
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      if (!lane_open(&lanes[n & 1], id)) give_up("a queue pair");
      for (int i = 0; i < 4; ++i) NEED(post_recv(&lanes[n & 1], i));
      NEED(rdma_accept(id, &p));
    } else if (type == RDMA_CM_EVENT_ESTABLISHED) {
      ++established;
      if (!fixed && id == lanes[0].id) greeting = greeted(-1);
    } else if (type != RDMA_CM_EVENT_ADDR_CHANGE) {
      give_up("no connection");
    }
  }
  NEED(post_send(&lanes[0], 0));
  good_wc(&lanes[0]);
  next_type(channel, kPatience);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct rdma_event_channel* alone = open_channel();
  for (int i = 0; i < 2; ++i) {
    struct rdma_cm_id* id;
    NEED(rdma_create_id(alone, &id, NULL, RDMA_PS_TCP));
    if (!resolve(id, host, kPort)) give_up("the address is not resolved");
    NEED(rdma_migrate_id(id, channel));
    if (!lane_open(&lanes[i], id)) give_up("a queue pair");
  }
  for (char i = 0; i < 2; ++i) {
    struct rdma_conn_param p = params(7, 7, &i, 1);
    NEED(rdma_connect(lanes[(int)i].id, &p));
  }
  for (int established = 0; established < 2;) {
    const int type = next_type(channel, 200000);
    if (type == RDMA_CM_EVENT_ESTABLISHED)
      ++established;
    else if (type != RDMA_CM_EVENT_ADDR_CHANGE)
      give_up("no connection");
  }
  NEED(post_recv(&lanes[0], 4));
  NEED(post_send(&lanes[0], 0));
  answer(&lanes[0], "the greeting has no answer");
  for (int i = 0; i < 2; ++i) {
    rdma_disconnect(lanes[i].id);
    lane_close(&lanes[i]);
  }
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
