// A log on two hosts. A client appends numbers at the leader, which copies them to its follower.
// When the leader is gone, the client reads the follower's log.
//
//   log follower
//   log leader FOLLOWER early|safe    when it answers: at once, or once the follower has the number
//   log client LEADER FOLLOWER
//
// `early` loses numbers that it has acknowledged if its host crashes before they are copied.
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kAppend, kRead, kNumber, kDone };
enum { kEntries = 64, kDepth = 16, kNumbers = 20 };
enum { kPauseUs = 500, kPatienceUs = 500000, kBatchUs = 5000 };
static char kPort[] = "7471";

struct message {
  int kind, number;
};

// A connection: what comes is received into `in` in turn, and what goes is sent from `out`.
struct link {
  struct rdma_cm_id* id;
  struct ibv_mr* memory;
  struct message in[kDepth], out;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // guards what follows
static int entries[kEntries], count, copied;
static struct link* follower;  // of the leader

static struct ibv_qp_init_attr attributes(void) {
  struct ibv_qp_init_attr a = {.qp_type = IBV_QPT_RC, .sq_sig_all = 1};
  a.cap.max_send_wr = a.cap.max_recv_wr = kDepth;
  a.cap.max_send_sge = a.cap.max_recv_sge = 1;
  return a;
}

static int expect_one(struct link* l, int slot) {
  return rdma_post_recv(l->id, &l->in[slot], &l->in[slot], sizeof l->in[slot], l->memory);
}

static int prepare(struct link* l) {
  int failed = 0;
  l->memory = rdma_reg_msgs(l->id, l, sizeof *l);
  if (l->memory == NULL) return -1;
  for (int i = 0; i < kDepth; ++i) failed |= expect_one(l, i);
  return failed;
}

static struct link* connect_to(const char* host) {
  struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *found;
  struct ibv_qp_init_attr a = attributes();
  struct link* l = calloc(1, sizeof *l);
  if (rdma_getaddrinfo(host, kPort, &hints, &found) != 0) return NULL;
  if (rdma_create_ep(&l->id, found, NULL, &a) != 0) return NULL;
  return prepare(l) == 0 && rdma_connect(l->id, NULL) == 0 ? l : NULL;
}

// Of a host that has crashed nobody says that it is gone: whoever waits has to give up.
static int next(struct ibv_cq* cq, struct ibv_wc* wc) {
  for (int waited = 0; waited < kPatienceUs; waited += kPauseUs) {
    if (ibv_poll_cq(cq, 1, wc) == 1) return wc->status == IBV_WC_SUCCESS ? 0 : -1;
    usleep(kPauseUs);
  }
  return -1;
}

static int send_to(struct link* l, int kind, int number) {
  struct ibv_wc wc;
  l->out = (struct message){kind, number};
  if (rdma_post_send(l->id, NULL, &l->out, sizeof l->out, l->memory, 0) != 0) return -1;
  return next(l->id->send_cq, &wc);
}

static int receive_from(struct link* l, struct message* m) {
  struct ibv_wc wc;
  if (next(l->id->recv_cq, &wc) != 0) return -1;
  struct message* in = (struct message*)(uintptr_t)wc.wr_id;
  *m = *in;
  return expect_one(l, (int)(in - l->in));
}

// With the lock held: the follower has all numbers then. -1: it does not answer.
static int copy_all(void) {
  struct message answer;
  for (; copied < count; ++copied) {
    if (send_to(follower, kAppend, entries[copied]) != 0) return -1;
    if (receive_from(follower, &answer) != 0) return -1;
  }
  return 0;
}

static void* copy_now_and_then(void* unused) {
  for (;;) {
    usleep(kBatchUs);
    pthread_mutex_lock(&lock);
    if (copy_all() != 0) exit(0);
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static int safe;

static int append(int number) {
  int failed = 0;
  pthread_mutex_lock(&lock);
  if (count < kEntries) entries[count++] = number;
  if (follower != NULL && safe) failed = copy_all();
  pthread_mutex_unlock(&lock);
  return failed;
}

// One connection, until it says nothing for a while.
static void* serve_one(void* argument) {
  struct link* l = argument;
  struct message m;
  for (int silent = 0; silent < 4;) {
    if (receive_from(l, &m) != 0) {
      ++silent;
      continue;
    }
    silent = 0;
    if (m.kind == kAppend && append(m.number) == 0) send_to(l, kDone, m.number);
    if (m.kind != kRead) continue;
    for (int i = 0; i < count; ++i) send_to(l, kNumber, entries[i]);
    send_to(l, kDone, 0);
  }
  return NULL;
}

static int serve(void) {
  struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_PASSIVE}, *found;
  struct ibv_qp_init_attr a = attributes();
  struct rdma_cm_id *listener, *id;
  if (rdma_getaddrinfo(NULL, kPort, &hints, &found) != 0) return 1;
  if (rdma_create_ep(&listener, found, NULL, &a) != 0 || rdma_listen(listener, 4) != 0) return 1;
  while (rdma_get_request(listener, &id) == 0) {
    struct link* l = calloc(1, sizeof *l);
    pthread_t thread;
    l->id = id;
    if (prepare(l) != 0 || rdma_accept(id, NULL) != 0) continue;
    pthread_create(&thread, NULL, serve_one, l);
  }
  return 1;
}

static int lead(const char* host) {
  pthread_t thread;
  follower = connect_to(host);
  if (follower == NULL) return 1;
  if (!safe) pthread_create(&thread, NULL, copy_now_and_then, NULL);
  return serve();
}

static int use(const char* leader, const char* second) {
  struct message m;
  struct link* l = connect_to(leader);
  for (int n = 1; l != NULL && n <= kNumbers; ++n) {
    if (send_to(l, kAppend, n) != 0 || receive_from(l, &m) != 0) break;
    printf("acknowledged %d\n", n);
    fflush(stdout);
  }
  usleep(4 * kBatchUs);
  l = connect_to(second);
  if (l == NULL || send_to(l, kRead, 0) != 0) return 1;
  printf("log");
  while (receive_from(l, &m) == 0 && m.kind == kNumber) printf(" %d", m.number);
  printf("\n");
  return m.kind == kDone ? 0 : 1;
}

int main(int argc, char** argv) {
  safe = argc > 3 && strcmp(argv[3], "safe") == 0;
  if (argc == 2 && strcmp(argv[1], "follower") == 0) return serve();
  if (argc == 4 && strcmp(argv[1], "leader") == 0) return lead(argv[2]);
  if (argc == 4 && strcmp(argv[1], "client") == 0) return use(argv[2], argv[3]);
  return 2;
}
