// The last message is lost, as the queue pair is taken away before it has been acknowledged.
// kind: graceful shutdown message lost
// source: https://github.com/kvcache-ai/Mooncake/pull/2427 (destroying a queue pair throws its
//   work away)
// needs: faults
// buggy: posts the farewell, and disconnects at once.
// fixed: waits for the farewell's completion. The client says by TCP that it has said farewell,
//   and then the server must know it.
#include <string.h>

#include "tests/finds/cm.h"

static bool fixed;

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  const int listener = tcp_listen(5000);
  struct lane lane;
  listen_at(channel, kPort, 4);
  take_in(&lane, channel, 4);
  await_end(channel);
  rdma_disconnect(lane.id);
  struct ibv_wc wc;
  bool farewell = false;
  while (next_wc(&lane, &wc, 0))
    farewell |= wc.status == IBV_WC_SUCCESS && slot(&lane, (int)wc.wr_id)[0] == 'f';
  char said = 0;
  tcp_read(tcp_accept(listener), &said, 1);
  CHECK(farewell || said != 'f');
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  dial(&lane, channel, host, kPort, NULL, 0);
  NEED(post_send(&lane, 0));
  good_wc(&lane);
  slot(&lane, 1)[0] = 'f';
  NEED(post_send(&lane, 1));
  if (fixed) good_wc(&lane);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  const int fd = tcp_dial(host, 5000);
  if (fd < 0) give_up("no server");
  tcp_write(fd, "f", 1);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
