// A server is told to stop while a connection is half made.
// kind: hang in teardown, of a connection that is accepted and not established
// source: https://github.com/openucx/ucx/pull/4719 is of this kind
// needs: order
// buggy: hangs up all sessions that are established, and waits until there is none left.
// fixed: ends the half-made ones as well. A client stays until the server hangs up.
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/finds/cm.h"

enum { kPlaces = 8, kStop = 10030 };
static bool fixed;
static struct session {
  struct lane lane;
  bool established;
} sessions[kPlaces];
static int count, stop_fd;

static void* tell_to_stop(void* unused) {
  const uint64_t one = 1;
  sleep_us(kStop);
  if (write(stop_fd, &one, sizeof one) < 0) give_up("write");
  return unused;
}

static void close_session(struct session* s) {
  rdma_disconnect(s->lane.id);
  lane_close(&s->lane);
  s->established = false;
  --count;
}

static void on_event(enum rdma_cm_event_type type, struct rdma_cm_id* id, bool stopping) {
  struct session* s = NULL;
  struct rdma_conn_param p = params(7, 7, NULL, 0);
  if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) give_up("the device is gone");
  for (int i = 0; i < kPlaces; ++i)
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST ? !sessions[i].lane.id : sessions[i].lane.id == id)
      s = &sessions[i];
  if (!s) return;
  if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    ++count;
    if (!lane_open(&s->lane, id)) give_up("a queue pair");
    if (stopping || rdma_accept(id, &p) != 0) close_session(s);
  } else if (type == RDMA_CM_EVENT_ESTABLISHED) {
    s->established = true;
  } else if (type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED ||
             type == RDMA_CM_EVENT_UNREACHABLE || type == RDMA_CM_EVENT_CONNECT_ERROR) {
    if (type != RDMA_CM_EVENT_UNREACHABLE || !s->established) close_session(s);
  }
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  bool stopping = false;
  pthread_t stopper;
  listen_at(channel, kPort, 8);
  stop_fd = eventfd(0, 0);
  NEED(pthread_create(&stopper, NULL, tell_to_stop, NULL));
  while (!stopping || count > 0) {
    struct pollfd fds[2] = {{channel->fd, POLLIN, 0}, {stopping ? -1 : stop_fd, POLLIN, 0}};
    poll(fds, 2, -1);
    struct rdma_cm_event* event = fds[0].revents ? next_event(channel, 0) : NULL;
    if (event) {
      const enum rdma_cm_event_type type = event->event;
      struct rdma_cm_id* id = event->id;
      rdma_ack_cm_event(event);
      on_event(type, id, stopping);
    }
    if (!fds[1].revents) continue;
    stopping = true;
    for (int i = 0; i < kPlaces; ++i)
      if (sessions[i].established || (fixed && sessions[i].lane.id)) close_session(&sessions[i]);
  }
  pthread_join(stopper, NULL);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  dial(&lane, channel, host, kPort, NULL, 0);
  int type;
  do type = next_type(channel, 60000);
  while (type == RDMA_CM_EVENT_ESTABLISHED || type == RDMA_CM_EVENT_ADDR_CHANGE);
  if (type == -1) unanswered(&lane, "the server was told to stop, and has not hung up");
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
