// Threads that connect by librdmacm and exchange one message each, on queue pairs of their own:
// `answers serve` and `answers ask ADDRESS`. answers.go and answers.rs are the same in Go and
// Rust.
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 4, kBytes = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void check(int result, const char* what) {
  if (result >= 0) return;
  perror(what);
  exit(1);
}

static struct rdma_cm_id* end_point(const char* address, int flags) {
  struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP};
  struct rdma_addrinfo* found;
  struct ibv_qp_init_attr wanted = {
      .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
      .sq_sig_all = 1};
  struct rdma_cm_id* id;
  check(rdma_getaddrinfo(address, "7471", &hints, &found), "rdma_getaddrinfo");
  check(rdma_create_ep(&id, found, NULL, &wanted), "rdma_create_ep");
  rdma_freeaddrinfo(found);
  return id;
}

static struct ibv_mr* ready_to_receive(struct rdma_cm_id* id, char* bytes) {
  struct ibv_mr* const region = rdma_reg_msgs(id, bytes, 2 * kBytes);
  check(region == NULL ? -1 : 0, "rdma_reg_msgs");
  check(rdma_post_recv(id, NULL, bytes, kBytes, region), "rdma_post_recv");
  return region;
}

static void await(int count, const struct ibv_wc* completion) {
  check(count, "a completion");
  if (completion->status != IBV_WC_SUCCESS) exit(3);
}

static void* answer(void* of) {
  struct rdma_cm_id* const id = of;
  struct ibv_wc completion;
  char bytes[2 * kBytes] = "";
  struct ibv_mr* const region = ready_to_receive(id, bytes);
  check(rdma_accept(id, NULL), "rdma_accept");
  await(rdma_get_recv_comp(id, &completion), &completion);
  snprintf(bytes + kBytes, kBytes, "%d", 10 * atoi(bytes));
  check(rdma_post_send(id, NULL, bytes + kBytes, kBytes, region, 0), "rdma_post_send");
  await(rdma_get_send_comp(id, &completion), &completion);
  rdma_disconnect(id);
  rdma_dereg_mr(region);
  rdma_destroy_ep(id);
  return NULL;
}

static void* ask(void* address) {
  struct rdma_cm_id* const id = end_point(address, 0);
  struct ibv_wc completion;
  char bytes[2 * kBytes] = "";
  struct ibv_mr* const region = ready_to_receive(id, bytes);
  check(rdma_connect(id, NULL), "rdma_connect");
  strcpy(bytes + kBytes, "7");
  check(rdma_post_send(id, NULL, bytes + kBytes, kBytes, region, 0), "rdma_post_send");
  await(rdma_get_send_comp(id, &completion), &completion);
  await(rdma_get_recv_comp(id, &completion), &completion);
  pthread_mutex_lock(&lock);
  sum += atoi(bytes);
  pthread_mutex_unlock(&lock);
  rdma_disconnect(id);
  rdma_dereg_mr(region);
  rdma_destroy_ep(id);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[kThreads];
  const int serves = argc < 3;
  struct rdma_cm_id* const listener = serves ? end_point(NULL, RAI_PASSIVE) : NULL;
  if (serves) check(rdma_listen(listener, kThreads), "rdma_listen");
  for (int i = 0; i < kThreads; ++i) {
    struct rdma_cm_id* id = NULL;
    if (serves) check(rdma_get_request(listener, &id), "rdma_get_request");
    pthread_create(&threads[i], NULL, serves ? answer : ask, serves ? (void*)id : (void*)argv[2]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  if (serves) {
    rdma_destroy_ep(listener);
  } else {
    printf("the sum of the answers is %d\n", sum);
  }
  return 0;
}
