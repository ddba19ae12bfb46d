// A loop that reconnects leaks what it made for each attempt that ended in an unexpected way,
// until there are no descriptors left (librxe-dev issue 14 begins like that). A client has thirty
// short sessions with a server, a channel each. The service may have 48 descriptors.
// kind: retry loop that leaks
// source: https://github.com/SoftRoCE/librxe-dev/issues/14
// needs: order
// buggy: forgets the channel of a session that the server has ended first.
// fixed: closes every session alike.
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/finds/cm.h"

enum { kSessions = 30, kDescriptors = 48 };
static bool fixed;

static int talk(const char* host) {
  const struct rlimit limit = {kDescriptors, kDescriptors};
  NEED(setrlimit(RLIMIT_NOFILE, &limit));
  for (int i = 0; i < kSessions; ++i) {
    struct rdma_event_channel* channel = rdma_create_event_channel();
    if (!channel) {
      CHECK(errno != EMFILE);
      give_up("rdma_create_event_channel");
    }
    struct lane lane;
    dial(&lane, channel, host, kPort, NULL, 0);
    NEED(post_send(&lane, 0));
    good_wc(&lane);
    struct rdma_cm_event* event = next_event(channel, 0);
    if (event) rdma_ack_cm_event(event);
    const bool ended_first = event != NULL;
    rdma_disconnect(lane.id);
    if (ended_first && !fixed) continue;  // the session is over already
    lane_close(&lane);
    rdma_destroy_event_channel(channel);
  }
  return 0;
}

// A session ends with its first message.
static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 8);
  for (int i = 0; i < kSessions; ++i) {
    struct lane lane;
    take_in(&lane, channel, 1);
    good_wc(&lane);
    rdma_disconnect(lane.id);
    await_end(channel);
    lane_close(&lane);
  }
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
