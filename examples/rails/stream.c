// A stream of numbers over two rails: docs/failover.md. The client sends each number over the first
// rail as long as that works, and then over the second one. It says when it sends a number, and the
// server says when it takes one.
//
//   stream server careful|careless ADDRESS ADDRESS
//   stream client ADDRESS ADDRESS
//
// A careless server takes each message. A careful one knows the numbers that it has had.
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRails = 2, kReceives = 8, kItems = 20 };
struct rail {
  const char* address;
  struct rdma_cm_id* id;
  struct ibv_mr* mr;
  long items[kReceives];
};
static struct rail rails[kRails];
static bool careful;

static void tell(const char* what, long item) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  printf("%s %ld %ld.%06ld\n", what, item, t.tv_sec, t.tv_nsec / 1000);
}

static struct rdma_cm_id* endpoint(const char* address, int flags) {
  struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = flags}, *found;
  struct ibv_qp_init_attr attr = {
      .cap = {.max_send_wr = 4, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 1},
      .sq_sig_all = 1};
  struct rdma_cm_id* id = NULL;
  if (rdma_getaddrinfo(address, "7471", &hints, &found)) return NULL;
  if (rdma_create_ep(&id, found, NULL, &attr)) id = NULL;
  rdma_freeaddrinfo(found);
  return id;
}

static void take(long item) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static long next;
  pthread_mutex_lock(&mutex);
  if (!careful || item >= next) tell("delivered", item);
  if (item >= next) next = item + 1;
  pthread_mutex_unlock(&mutex);
}

static void* serve(void* argument) {
  struct rail* rail = argument;
  struct rdma_conn_param param = {.rnr_retry_count = 7};
  struct ibv_wc wc;
  struct rdma_cm_id* listener = endpoint(rail->address, RAI_PASSIVE);
  if (!listener || rdma_listen(listener, 4) || rdma_get_request(listener, &rail->id)) return NULL;
  rail->mr = rdma_reg_msgs(rail->id, rail->items, sizeof rail->items);
  for (int i = 0; rail->mr && i < kReceives; ++i)
    rdma_post_recv(rail->id, &rail->items[i], &rail->items[i], sizeof(long), rail->mr);
  if (!rail->mr || rdma_accept(rail->id, &param)) return NULL;
  while (rdma_get_recv_comp(rail->id, &wc) == 1 && wc.status == IBV_WC_SUCCESS) {
    long* item = (long*)wc.wr_id;
    take(*item);
    rdma_post_recv(rail->id, item, item, sizeof *item, rail->mr);
  }
  return NULL;
}

static bool open_rail(struct rail* rail) {
  struct rdma_conn_param param = {.retry_count = 1, .rnr_retry_count = 7};
  rail->id = endpoint(rail->address, 0);
  if (!rail->id || !(rail->mr = rdma_reg_msgs(rail->id, rail->items, sizeof rail->items)))
    return false;
  return rdma_connect(rail->id, &param) == 0;
}

static bool send_item(struct rail* rail, long item) {
  struct ibv_wc wc;
  rail->items[0] = item;
  return rdma_post_send(rail->id, NULL, rail->items, sizeof(long), rail->mr, 0) == 0 &&
         rdma_get_send_comp(rail->id, &wc) == 1 && wc.status == IBV_WC_SUCCESS;
}

static int stream(void) {
  bool up[kRails];
  for (int n = 0; n < kRails; ++n) up[n] = open_rail(&rails[n]);
  for (long item = 0; item < kItems; ++item) {
    bool done = false;
    tell("sent", item);
    for (int n = 0; n < kRails && !done; ++n) done = up[n] = up[n] && send_item(&rails[n], item);
    if (!done) return 1;
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  }
  // The server's device has acknowledged the last number. The server may not have taken it yet.
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  return 0;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (argc == 4 && strcmp(argv[1], "client") == 0) {
    for (int n = 0; n < kRails; ++n) rails[n].address = argv[2 + n];
    return stream();
  }
  if (argc != 5) return 2;
  careful = strcmp(argv[2], "careful") == 0;
  pthread_t threads[kRails];
  for (int n = 0; n < kRails; ++n) {
    rails[n].address = argv[3 + n];
    pthread_create(&threads[n], NULL, serve, &rails[n]);
  }
  for (int n = 0; n < kRails; ++n) pthread_join(threads[n], NULL);
  return 0;
}
