// The server registers a dma-buf, for which a memfd stands. The client writes to it, and once more
// when its exporter has taken the memory away.
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/finds/cm.h"

enum { kPage = 4096, kPlace = 1, kTold = 3 };

struct place {
  uint64_t address;
  uint32_t key;
};

static int serve(void) {
  struct rdma_event_channel* const channel = open_channel();
  struct lane lane = {0};
  (void)listen_at(channel, kPort, 1);
  take_in(&lane, channel, 1);
  const int exporter = memfd_create("exporter", 0);
  NEED(ftruncate(exporter, 2 * kPage));
  char* const own = mmap(NULL, 2 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, exporter, 0);
  const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  struct ibv_mr* const mr = ibv_reg_dmabuf_mr(lane.pd, kPage, kPage, kPage, exporter, rights);
  CHECK(own != MAP_FAILED && mr != NULL);
  const struct place place = {kPage, mr->rkey};
  memcpy(slot(&lane, kPlace), &place, sizeof place);
  NEED(post_send(&lane, kPlace));
  (void)good_wc(&lane);
  (void)good_wc(&lane);
  printf("the exporter has: %s\n", own + kPage);
  fflush(stdout);
  NEED(ftruncate(exporter, 0));
  NEED(post_send(&lane, kTold));
  (void)good_wc(&lane);
  await_end(channel);
  CHECK(ibv_dereg_mr(mr) == 0);
  return 0;
}

static int use(const char* host) {
  struct rdma_event_channel* const channel = open_channel();
  struct lane lane = {0};
  dial(&lane, channel, host, kPort, NULL, 0);
  NEED(post_recv(&lane, 0));
  (void)good_wc(&lane);
  struct place place;
  memcpy(&place, slot(&lane, 0), sizeof place);
  NEED(post_recv(&lane, 0));
  strcpy(slot(&lane, 2), "a letter");
  NEED(post_rdma(&lane, 2, kSlot, IBV_WR_RDMA_WRITE, place.address, place.key));
  (void)good_wc(&lane);
  NEED(post_send(&lane, kTold));
  (void)good_wc(&lane);
  (void)good_wc(&lane);
  NEED(post_rdma(&lane, 2, kSlot, IBV_WR_RDMA_WRITE, place.address, place.key));
  struct ibv_wc wc;
  CHECK(next_wc(&lane, &wc, kPatience));
  printf("afterwards: %s\n", ibv_wc_status_str(wc.status));
  return 0;
}

int main(int argc, char** argv) {
  return argc > 1 ? use(argv[1]) : serve();
}
