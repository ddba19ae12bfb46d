// A service thread polls the channels of all sessions. It handles an order to remove a session, and
// goes on with what poll(2) has returned before: an event of the session, whose owner has freed it.
// kind: use of a session after its end, by a result of poll(2) that is out of date
// source: rdma-core 0b10cda9a (2026-07): librdmacm, cm_svc_run() and rclose()
// needs: points
// buggy: looks at the descriptors of the last poll after an order, too.
// fixed: polls again after an order. An event that was not read keeps its descriptor readable.
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/finds/cm.h"

enum { kSessions = 6 };

struct session {
  struct lane lane;
  struct rdma_event_channel* channel;
  bool ended;
};
struct order {
  struct session* session;
  bool add;
};

static bool fixed;
static int orders[2];  // [0]: of the owners, [1]: of the service thread
static pthread_mutex_t one_order = PTHREAD_MUTEX_INITIALIZER;
static struct session* served[kSessions];

static void take_order(void) {
  struct order order;
  tcp_read(orders[1], &order, sizeof order);
  for (int i = 0; i < kSessions; ++i) {
    if (served[i] != (order.add ? NULL : order.session)) continue;
    served[i] = order.add ? order.session : NULL;
    break;
  }
  tcp_write(orders[1], &order, 1);  // it is done
}

static void take_event(struct session* session) {
  struct rdma_cm_event* event = next_event(session->channel, 0);
  if (!event) return;
  if (event->event == RDMA_CM_EVENT_DISCONNECTED) session->ended = true;
  rdma_ack_cm_event(event);
}

static void* serve_sessions(void* unused) {
  for (;;) {
    struct session* polled[kSessions];
    struct pollfd fds[kSessions + 1] = {{.fd = orders[1], .events = POLLIN}};
    for (int i = 0; i < kSessions; ++i) {
      polled[i] = served[i];
      fds[i + 1] = (struct pollfd){.fd = served[i] ? served[i]->channel->fd : -1, .events = POLLIN};
    }
    poll(fds, kSessions + 1, -1);
    if (fds[0].revents) take_order();
    if (fds[0].revents && fixed) continue;
    for (int i = 0; i < kSessions; ++i)
      if (fds[i + 1].revents) take_event(polled[i]);
  }
  return unused;
}

static void give(struct session* session, bool add) {
  const struct order order = {session, add};
  char done;
  pthread_mutex_lock(&one_order);
  tcp_write(orders[0], &order, sizeof order);
  tcp_read(orders[0], &done, 1);
  pthread_mutex_unlock(&one_order);
}

static void* own_session(void* argument) {
  struct session* session = argument;
  give(session, true);
  good_wc(&session->lane);  // the request
  NEED(post_send(&session->lane, 1));
  good_wc(&session->lane);  // the answer has arrived, and the client hangs up
  give(session, false);
  struct lane lane = session->lane;
  struct rdma_event_channel* channel = session->channel;
  memset(session, 0, sizeof *session);
  free(session);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  rdma_destroy_event_channel(channel);
  return NULL;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  pthread_t service, owners[kSessions];
  listen_at(channel, kPort, kSessions);
  NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, orders));
  NEED(pthread_create(&service, NULL, serve_sessions, NULL));
  for (int n = 0; n < kSessions; ++n) {
    struct session* session = calloc(1, sizeof *session);
    take_in(&session->lane, channel, 1);
    session->channel = open_channel();
    NEED(rdma_migrate_id(session->lane.id, session->channel));
    NEED(pthread_create(&owners[n], NULL, own_session, session));
  }
  for (int n = 0; n < kSessions; ++n) pthread_join(owners[n], NULL);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lanes[kSessions];
  for (int n = 0; n < kSessions; ++n) {
    dial(&lanes[n], channel, host, kPort, NULL, 0);
    NEED(post_recv(&lanes[n], 2));
  }
  for (int n = 0; n < kSessions; ++n) NEED(post_send(&lanes[n], 0));
  for (int n = 0; n < kSessions; ++n) {
    good_wc(&lanes[n]);
    good_wc(&lanes[n]);
    rdma_disconnect(lanes[n].id);
  }
  for (int n = 0; n < kSessions; ++n) lane_close(&lanes[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
