// The port of the second rail goes down, and the program takes the first one out of service: its
// handler of events does not look at whose event it is.
// kind: asynchronous event given to the wrong device
// source: https://github.com/NVIDIA/nccl/pull/2400;
//   https://github.com/kvcache-ai/Mooncake/pull/3644;
//   https://github.com/open-mpi/ompi/issues/180
// needs: faults
// buggy: an event is of the rail in use.
// fixed: an event is of the rail whose device has raised it.
#include "tests/finds/rails.h"

enum { kBlocks = 32 };
static bool fixed;
static char page[4096] __attribute__((aligned(4096)));
static struct rail rails[kRails];
static struct ibv_context* devices[kRails];
static bool down[kRails];
static int use;

static int serve(void) {
  struct server server = {.page = page, .bytes = sizeof page};
  return serve_rails(&server);
}

static void take_events(void) {
  for (int device = 0; device < kRails; ++device) {
    struct ibv_async_event event;
    while (readable(devices[device]->async_fd, 0) &&
           ibv_get_async_event(devices[device], &event) == 0) {
      const int rail = fixed ? device : use;
      if (event.event_type == IBV_EVENT_PORT_ERR || event.event_type == IBV_EVENT_DEVICE_FATAL)
        down[rail] = true;
      if (event.event_type == IBV_EVENT_PORT_ACTIVE) down[rail] = false;
      ibv_ack_async_event(&event);
    }
  }
}

static int usable(void) {
  take_events();
  for (int rail = 0; rail < kRails; ++rail)
    if (rails[rail].up && !down[rail]) return rail;
  // Whoever stops here says that no rail works.
  for (int rail = 0; rail < kRails; ++rail) {
    if (!rail_alive(&rails[rail])) continue;
    take_events();
    CHECK(!down[rail]);
    return rail;
  }
  give_up("no rail is left");
}

static int talk(const char* host) {
  rails_connect(rails, host);
  for (int rail = 0; rail < kRails; ++rail) devices[rail] = rails[rail].lane.id->verbs;
  for (int n = 0; n < kBlocks;) {
    use = usable();
    struct rail* rail = &rails[use];
    struct ibv_wc wc;
    *slot(&rail->lane, n) = 'x';
    rail->up = post_rdma(&rail->lane, n, kSlot, IBV_WR_RDMA_WRITE,
                         rail->place.address + (uint64_t)n * kSlot, rail->place.rkey) == 0 &&
               next_wc(&rail->lane, &wc, kPatience) && wc.status == IBV_WC_SUCCESS;
    if (!rail->up) continue;
    ++n;
    sleep_us(1000);
  }
  for (int rail = 0; rail < kRails; ++rail) rail_close(&rails[rail]);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
