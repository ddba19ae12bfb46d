// A port comes back, and its rail is used again at once: with the queue pair that has gone to ERR
// meanwhile.
// kind: rail used again too early
// source: https://github.com/kvcache-ai/Mooncake/issues/3596;
//   https://github.com/NVIDIA/nccl/issues/2157; https://github.com/kvcache-ai/Mooncake/issues/2960
// needs: faults
// buggy: a rail works when its port does.
// fixed: makes a new connection first, and uses the rail when there is one.
#include <string.h>

#include "tests/finds/rails.h"

enum { kBlocks = 40, kAttempts = 4 };
static bool fixed;
static struct rail rails[kRails];
static struct ibv_context* devices[kRails];
static bool usable[kRails];

static int serve(void) {
  static char page[4096] __attribute__((aligned(4096)));
  struct server server = {.page = page, .bytes = sizeof page};
  return serve_rails(&server);
}

static void take_events(const char* host) {
  for (int n = 0; n < kRails; ++n) {
    struct ibv_async_event event;
    while (readable(devices[n]->async_fd, 0) && ibv_get_async_event(devices[n], &event) == 0) {
      const enum ibv_event_type type = event.event_type;
      ibv_ack_async_event(&event);
      if (type == IBV_EVENT_DEVICE_FATAL) give_up("a device is gone");
      if (type == IBV_EVENT_PORT_ERR) usable[n] = false;
      if (type != IBV_EVENT_PORT_ACTIVE) continue;
      usable[n] = true;
      if (!fixed) continue;
      rail_close(&rails[n]);
      usable[n] = rail_connect(&rails[n], n, host);
    }
  }
}

static bool write_block(struct rail* rail, int n) {
  struct ibv_wc wc;
  if (!rail->lane.id) return false;
  memset(slot(&rail->lane, n), 'x', kSlot);
  return post_rdma(&rail->lane, n, kSlot, IBV_WR_RDMA_WRITE,
                   rail->place.address + (uint64_t)n * kSlot, rail->place.rkey) == 0 &&
         next_wc(&rail->lane, &wc, kPatience) && wc.status == IBV_WC_SUCCESS;
}

// The first rail has the shortest way, and is taken whenever it works.
static bool store_block(int n, const char* host) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    take_events(host);
    const int rail = usable[0] ? 0 : 1;
    if (write_block(&rails[rail], n)) return true;
    if (fixed || rail == 1) usable[rail] = false;
    sleep_us(1000);
  }
  return false;
}

static int talk(const char* host) {
  rails_connect(rails, host);
  for (int n = 0; n < kRails; ++n) {
    devices[n] = rails[n].lane.id->verbs;
    usable[n] = true;
  }
  for (int n = 0; n < kBlocks; ++n, sleep_us(1000)) {
    if (store_block(n, host)) continue;
    CHECK(!rail_alive(&rails[1]));
    give_up("no rail is left");
  }
  for (int n = 0; n < kRails; ++n) rail_close(&rails[n]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
