// brpc pull request 3480: a message can be there before ESTABLISHED is (its first packet completes
// the connection for the device, and the event takes its own way).
// kind: message before ESTABLISHED
// source: https://github.com/apache/brpc/pull/3480
// needs: points, faults
// buggy: drops what arrives while the session is not marked as established.
// fixed: keeps what arrives, and handles it. The greeting has been acknowledged, so the client has
//   to have an answer.
#include <poll.h>
#include <string.h>

#include "tests/finds/cm.h"

enum { kNumber = 42 };
static bool fixed;

static void take_completions(struct lane* lane, bool established) {
  struct ibv_wc wc;
  while (next_wc(lane, &wc, 0)) {
    if (wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
    if (wc.opcode & IBV_WC_RECV && (established || fixed)) NEED(post_send(lane, (int)wc.wr_id));
  }
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct lane lane;
  struct rdma_cm_id* id = expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, NULL, 0);
  if (!lane_open(&lane, id)) give_up("a queue pair");
  for (int i = 0; i < 4; ++i) NEED(post_recv(&lane, i));
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  NEED(rdma_accept(id, &p));
  bool established = false;
  for (;;) {
    struct pollfd fds[2] = {{lane.comp->fd, POLLIN, 0}, {channel->fd, POLLIN, 0}};
    take_completions(&lane, established);
    if (poll(fds, 2, 100000) <= 0) give_up("silence");
    if (!fds[1].revents) continue;
    const int type = next_type(channel, 0);
    if (type == RDMA_CM_EVENT_ESTABLISHED) established = true;
    if (type == RDMA_CM_EVENT_DISCONNECTED) break;
    if (type == RDMA_CM_EVENT_DEVICE_REMOVAL || type == RDMA_CM_EVENT_REJECTED ||
        (type == RDMA_CM_EVENT_UNREACHABLE && !established))
      give_up("no connection");
  }
  rdma_disconnect(id);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  dial(&lane, channel, host, kPort, NULL, 0);
  NEED(post_recv(&lane, 8));
  NEED(post_send(&lane, 0));
  answer(&lane, "the greeting was acknowledged, and nothing came of it");
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
