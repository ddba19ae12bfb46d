// A WRITE that was flushed counts as done: the disconnection ends the wait, and the status is not
// read.
// kind: disconnect with outstanding WRITEs assumed complete
// source: https://github.com/ml-explore/mlx/pull/3152 (a status unread in nine loops)
// needs: faults
// buggy: counts completions, and reports a block as stored when its completion has come.
// fixed: counts completions that succeeded.
#include <string.h>
#include <unistd.h>

#include "tests/finds/cm.h"

enum { kBlocks = 12 };
static bool fixed;
struct place {
  uint64_t address;
  uint32_t rkey, unused;
};

// The server's memory is judged after the connection has ended: who reports n blocks has stored n.
static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  const int listener = tcp_listen(5000);
  listen_at(channel, kPort, 4);
  const int fd = tcp_accept(listener);
  struct lane lane;
  take_in(&lane, channel, 0);
  const struct place place = {(uintptr_t)lane.memory, lane.mr->rkey, 0};
  tcp_write(fd, &place, sizeof place);
  int32_t reported = 0, stored = 0;
  tcp_read(fd, &reported, sizeof reported);
  await_end(channel);
  rdma_disconnect(lane.id);
  rdma_destroy_qp(lane.id);
  for (int i = 0; i < kBlocks; ++i) stored += *slot(&lane, i) == 'x';
  CHECK(stored >= reported);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  const int fd = tcp_dial(host, 5000);
  if (fd < 0) give_up("no server");
  struct lane lane;
  dial(&lane, channel, host, kPort, NULL, 0);
  struct place place;
  tcp_read(fd, &place, sizeof place);
  int32_t posted = 0, done = 0, stored = 0;
  for (int i = 0; i < kBlocks; ++i) {
    memset(slot(&lane, i), 'x', kSlot);
    if (post_rdma(&lane, i, kSlot, IBV_WR_RDMA_WRITE, place.address + (uint64_t)i * kSlot,
                  place.rkey))
      break;
    ++posted;
  }
  struct ibv_wc wc;
  for (; done < posted && next_wc(&lane, &wc, kPatience); ++done)
    if (!fixed || wc.status == IBV_WC_SUCCESS) ++stored;
  rdma_disconnect(lane.id);
  lane_close(&lane);
  tcp_write(fd, &stored, sizeof stored);
  close(fd);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
