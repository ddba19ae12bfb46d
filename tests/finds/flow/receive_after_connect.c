// A server posts its first receive when it knows that the connection is there, and the client sends
// as soon as it knows.
//
// kind: receive posted too late, RNR without retry
// source: w180112/RDMA-example 4, hellas-ai/thunderbolt-ibverbs 71
// needs: order
//
// buggy: posts the receive after ESTABLISHED; the client's rnr_retry is 0.
// fixed: posts the receive before it accepts.
#include "tests/finds/kit.h"

enum { kBytes = 8 };

static void receive(struct end* end, struct memory* memory, char* bytes) {
  *memory = own_memory(end, bytes, kBytes);
  post_receive(end, 0, memory, 0, kBytes);
}

static void serve(bool fixed) {
  static char bytes[kBytes];
  struct rdma_event_channel* channel = cm_channel();
  cm_listen(channel, 7000);
  struct rdma_cm_id* id = cm_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
  struct end end = cm_end(id, (struct options){0});
  struct memory memory;
  if (fixed) receive(&end, &memory, bytes);
  struct rdma_conn_param parameters = cm_parameters();
  parameters.rnr_retry_count = 0;
  CHECK_OK(rdma_accept(id, &parameters));
  cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED);
  if (!fixed) receive(&end, &memory, bytes);
  complete(end.recv_cq);
  CHECK_EQ(load64(bytes), 77);
  cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED);
  CHECK_OK(ibv_dereg_mr(memory.mr));
  cm_destroy(&end);
}

static void send_one(const char* server) {
  static char bytes[kBytes];
  struct rdma_event_channel* channel = cm_channel();
  struct end end = cm_end(cm_resolve(channel, server, 7000), (struct options){0});
  const struct memory memory = own_memory(&end, bytes, kBytes);
  store64(bytes, 77);
  struct rdma_conn_param parameters = cm_parameters();
  parameters.rnr_retry_count = 0;
  CHECK_OK(rdma_connect(end.id, &parameters));
  cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED);
  pause_us(30);  // It prepares its message, which is long enough most of the time.
  post_send(&end, 0, &memory, 0, kBytes, IBV_SEND_SIGNALED);
  complete(end.send_cq);
  CHECK_OK(rdma_disconnect(end.id));
  cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED);
}

int main(int argc, char** argv) {
  const struct run run = begin(argc, argv);
  if (is(&run, "server")) {
    serve(run.fixed);
  } else {
    send_one(run.peer);
  }
  succeed();
}
