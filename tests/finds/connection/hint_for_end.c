// libfabric issue 12362, accelio issue 88: ADDR_CHANGE, and UNREACHABLE after ESTABLISHED, are
// hints that the way has changed. The connection goes on, and its end comes as an event of its
// own.
// kind: address change during a connection
// source: https://github.com/ofiwg/libfabric/issues/12362,
//   https://github.com/accelio/accelio/issues/88
// needs: faults
// buggy: a session gives its reference back at each event that sounds like an end: once too often.
// fixed: only at the first event that is one.
#include <string.h>

#include "tests/finds/cm.h"

enum { kMessages = 20 };
static bool fixed;

struct session {
  struct lane lane;
  int references;  // the table's, the connection's
  bool over;
};

static void drop(struct session* s) {
  CHECK(s->references > 1);  // the table's is there until the end
  --s->references;
}

static void on_event(struct session* s, int type) {
  switch (type) {
    case RDMA_CM_EVENT_ADDR_CHANGE:
    case RDMA_CM_EVENT_UNREACHABLE:
      if (!fixed) drop(s);
      return;
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      if (fixed && s->over) return;
      s->over = true;
      drop(s);
      return;
    default:
      return;
  }
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  struct session s = {.references = 2};
  listen_at(channel, kPort, 4);
  take_in(&s.lane, channel, kMessages);
  const int64_t until = now_us() + 5000000;
  while (!s.over && now_us() < until) {
    struct rdma_cm_event* event = next_event(channel, 1000);
    if (!event) continue;
    const int type = (int)event->event;
    const bool of_session = event->id == s.lane.id;
    rdma_ack_cm_event(event);
    if (of_session) on_event(&s, type);
  }
  rdma_disconnect(s.lane.id);
  lane_close(&s.lane);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct session s = {.references = 2};
  dial(&s.lane, channel, host, kPort, NULL, 0);
  for (int n = 0; n < kMessages && !s.over; ++n) {
    NEED(post_send(&s.lane, n));
    good_wc(&s.lane);
    sleep_us(1000);
    for (int type; (type = next_type(channel, 0)) != -1;) on_event(&s, type);
  }
  rdma_disconnect(s.lane.id);
  for (int type; !s.over && (type = next_type(channel, kPatience)) != -1;) on_event(&s, type);
  lane_close(&s.lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
