// A library resolves an address with the lock of its connection. Where a thread takes events, that
// works; in synchronous mode, the resolving thread itself takes the event, which needs the lock.
// kind: deadlock of a thread with itself, in the synchronous mode of a call
// source: rdma-core 7528827b7 (2025-11): librdmacm, rdma_resolve_addrinfo()
// needs: instants
// buggy: holds the lock while it resolves. The synchronous mode is that of a second attempt, after
//   the first one has failed, when the thread that took events has ended.
// fixed: marks the connection as resolving, and releases the lock before.
#include <pthread.h>
#include <stdatomic.h>

#include "tests/finds/cm.h"

enum { kNothing = -2 };

static bool fixed;
static struct connection {
  pthread_mutex_t lock;
  struct rdma_cm_id* id;
  bool resolving;
  atomic_int result;  // the type of the event; kNothing: none has come yet
} connection = {.lock = PTHREAD_MUTEX_INITIALIZER};

/// Takes the event of the connection that is awaited, and ends the resolution.
static void take_one(void) {
  const int type = next_type(connection.id->channel, kPatience);
  pthread_mutex_lock(&connection.lock);
  connection.resolving = false;
  pthread_mutex_unlock(&connection.lock);
  connection.result = type;
}

static void* take_in_a_thread(void* unused) {
  take_one();
  return unused;
}

static void begin_and_wait(const char* host, bool synchronous) {
  char port[] = "7471";
  struct rdma_addrinfo* found = NULL;
  NEED(rdma_getaddrinfo(host, port, NULL, &found));
  connection.result = kNothing;
  NEED(rdma_resolve_addr(connection.id, NULL, found->ai_dst_addr, 2000));
  rdma_freeaddrinfo(found);
  if (synchronous) take_one();
}

static bool resolve_address(const char* host, bool synchronous) {
  pthread_t taker;
  pthread_mutex_lock(&connection.lock);
  connection.resolving = true;
  if (fixed) pthread_mutex_unlock(&connection.lock);
  begin_and_wait(host, synchronous);
  if (!fixed) pthread_mutex_unlock(&connection.lock);
  if (!synchronous) {
    NEED(pthread_create(&taker, NULL, take_in_a_thread, NULL));
    pthread_join(taker, NULL);
  }
  CHECK(!connection.resolving);
  return connection.result == RDMA_CM_EVENT_ADDR_RESOLVED;
}

static int serve(void) {
  struct rdma_event_channel* channel = open_channel();
  listen_at(channel, kPort, 4);
  struct lane lane;
  take_in(&lane, channel, 1);
  await_end(channel);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

static int talk(const char* host) {
  struct rdma_event_channel* channel = open_channel();
  struct lane lane;
  NEED(rdma_create_id(channel, &connection.id, NULL, RDMA_PS_TCP));
  if (!resolve_address(host, false) && !resolve_address(host, true)) give_up("no address");
  NEED(rdma_destroy_id(connection.id));
  dial(&lane, channel, host, kPort, NULL, 0);
  rdma_disconnect(lane.id);
  lane_close(&lane);
  return 0;
}

int main(int argc, char** argv) {
  return by_role(argc, argv, &fixed, serve, talk);
}
