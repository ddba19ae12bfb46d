#define _GNU_SOURCE
#include "tests/ownership/mistakes.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPort = 7471, kBytes = 8192, kPiece = 1024, kDepth = 4 };

/// One end of a connection, with all that it needs.
struct end {
  struct rdma_event_channel* channel;
  struct rdma_cm_id* listener;  ///< of a server
  struct rdma_cm_id* id;
  struct ibv_pd* pd;
  struct ibv_comp_channel* completions;
  struct ibv_cq* sent;
  struct ibv_cq* received;
  struct ibv_mr* mr;
  char* bytes;
  int file;    ///< whose pages are registered: "shared" and "remapped"; else -1
  int object;  ///< likewise: "segment"
  uint64_t peer_at;
  uint32_t peer_key;
};

struct place {
  uint64_t at;
  uint32_t key;
};

#define MUST(condition)                                                     \
  do {                                                                      \
    if (!(condition)) {                                                     \
      fprintf(stderr, "mistakes.c:%d: not so: %s\n", __LINE__, #condition); \
      return 1;                                                             \
    }                                                                       \
  } while (0)

static const char* kind;
static bool is(const char* name) {
  return strcmp(kind, name) == 0;
}

// ---- Connections

static struct rdma_cm_id* expect(struct end* end, enum rdma_cm_event_type type) {
  struct rdma_cm_event* event = NULL;
  if (rdma_get_cm_event(end->channel, &event) != 0) return NULL;
  struct rdma_cm_id* id = event->event == type ? event->id : NULL;
  if (event->event != type) fprintf(stderr, "got %s\n", rdma_event_str(event->event));
  const struct rdma_conn_param* given = &event->param.conn;
  if (given->private_data != NULL && given->private_data_len >= sizeof(struct place)) {
    struct place place;
    memcpy(&place, given->private_data, sizeof place);
    end->peer_at = place.at;
    end->peer_key = place.key;
  }
  rdma_ack_cm_event(event);
  return id;
}

// ---- Memory that changes while it is registered. A peer writes to its second half.

enum { kHalf = kBytes / 2 };

static void* map_at(void* at, size_t bytes, int flags, int fd) {
  return mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static int new_object(void) {
  const int id = shmget(IPC_PRIVATE, kBytes, 0600);
  return id;
}

static void* get_memory(struct end* end) {
  if (is("segment")) return shmat(end->object = new_object(), NULL, 0);
  if (!is("shared") && !is("remapped"))
    return map_at(NULL, kBytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  end->file = memfd_create("registered", 0);
  if (ftruncate(end->file, kBytes) != 0) return MAP_FAILED;
  return map_at(NULL, kBytes, MAP_SHARED, end->file);
}

static bool map_anew(char* half) {
  if (munmap(half, kHalf) != 0) return false;
  return map_at(half, kHalf, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1) == half;
}

/// A thread that is there before memory is registered, and waits in read(2) meanwhile.
static struct {
  pthread_t thread;
  int told[2];
  int ready[2];
} changer;

/// The thread's own, so that no filter for all threads can follow.
static bool add_filter(void) {
  struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {.len = 1, .filter = &pass};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void* change_when_told(void* half) {
  char byte = 0;
  if (is("filtered") && !add_filter()) return NULL;
  if (write(changer.ready[1], &byte, 1) != 1) return NULL;
  return read(changer.told[0], &byte, 1) == 1 && map_anew(half) ? half : NULL;
}

static bool start_changer(char* bytes) {
  char byte;
  return pipe(changer.told) == 0 && pipe(changer.ready) == 0 &&
         pthread_create(&changer.thread, NULL, change_when_told, bytes + kHalf) == 0 &&
         read(changer.ready[0], &byte, 1) == 1;
}

/// Registers memory in this process, and returns the pid of a child, or 0 in the child.
static pid_t register_and_fork(void) {
  static char bytes[kPiece];
  struct ibv_device** const devices = ibv_get_device_list(NULL);
  struct ibv_context* const device = devices == NULL ? NULL : ibv_open_device(devices[0]);
  struct ibv_pd* const pd = device == NULL ? NULL : ibv_alloc_pd(device);
  if (pd == NULL || ibv_reg_mr(pd, bytes, sizeof bytes, 0) == NULL) return -1;
  return fork();
}

/// The memory is the program's own, and at the same addresses, before and afterwards. False: it was
/// not done.
static bool change_memory(char* bytes) {
  const int private = MAP_PRIVATE | MAP_ANONYMOUS;
  char* const half = bytes + kHalf;
  if (is("anew") || is("child")) return map_anew(half);
  if (is("thread") || is("filtered")) {
    void* done = NULL;
    return write(changer.told[1], "", 1) == 1 && pthread_join(changer.thread, &done) == 0 &&
           done != NULL;
  }
  if (is("over")) return map_at(half, kHalf, private | MAP_FIXED, -1) == half;
  if (is("dropped")) return madvise(half, kHalf, MADV_DONTNEED) == 0;
  if (is("moved")) {
    void* const other = map_at(NULL, kHalf, private, -1);
    return mremap(other, kHalf, kHalf, MREMAP_MAYMOVE | MREMAP_FIXED, half) == half;
  }
  if (is("segment")) {
    const int other = new_object();
    const bool done = shmdt(bytes) == 0 && shmat(other, bytes, 0) == bytes;
    return shmctl(other, IPC_RMID, NULL) == 0 && done;
  }
  if (is("shared")) {
    const int other = memfd_create("other", 0);
    return ftruncate(other, kBytes) == 0 &&
           map_at(bytes, kBytes, MAP_SHARED | MAP_FIXED, other) == bytes;
  }
  return true;
}

/// What is registered stays, whatever happens elsewhere and to the same pages of a file.
static bool change_nothing(const struct end* end) {
  struct ibv_pd* const pd = end->pd;
  char* const bytes = end->bytes;
  char* const other = map_at(NULL, kBytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  struct ibv_mr* const mr = ibv_reg_mr(pd, other, kBytes, IBV_ACCESS_LOCAL_WRITE);
  if (mr == NULL || ibv_dereg_mr(mr) != 0 || munmap(other, kBytes) != 0) return false;
  if (map_at(other, kBytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1) != other) return false;
  if (madvise(other, kBytes, MADV_DONTNEED) != 0) return false;
  if (munmap(bytes, kBytes) != 0) return false;
  if (map_at(bytes, kBytes, MAP_SHARED | MAP_FIXED, end->file) != bytes) return false;
  return madvise(bytes, kBytes, MADV_DONTNEED) == 0;
}

/// Whether the kind changes the memory of a server's region.
static bool changes(void) {
  static const char* const kKinds[] = {"anew",     "over",   "dropped", "moved",    "segment",
                                       "remapped", "shared", "thread",  "filtered", "child"};
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++)
    if (is(kKinds[i])) return true;
  return false;
}

static int make_queues(struct end* end, bool wrong) {
  struct ibv_context* device = end->id->verbs;
  const int entries = (is("overrun") || is("depth")) && wrong ? 2 : 64;
  end->pd = ibv_alloc_pd(device);
  end->completions = ibv_create_comp_channel(device);
  end->sent = ibv_create_cq(device, entries, NULL, NULL, 0);
  end->received = ibv_create_cq(device, 64, NULL, end->completions, 0);
  MUST(end->pd != NULL && end->sent != NULL && end->received != NULL);
  struct ibv_qp_init_attr init = {
      .qp_type = IBV_QPT_RC,
      .send_cq = end->sent,
      .recv_cq = end->received,
      .cap = {.max_send_wr = kDepth, .max_recv_wr = kDepth, .max_send_sge = 1, .max_recv_sge = 1}};
  MUST(rdma_create_qp(end->id, end->pd, &init) == 0);
  end->bytes = get_memory(end);
  MUST(end->bytes != MAP_FAILED);
  if (is("thread") || is("filtered")) MUST(start_changer(end->bytes));
  if (!wrong && changes()) MUST(change_memory(end->bytes));
  const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  end->mr = ibv_reg_mr(end->pd, end->bytes, kBytes, rights);
  MUST(end->mr != NULL);
  return 0;
}

static struct rdma_conn_param parameters(struct place* place, const struct end* end) {
  *place = (struct place){(uintptr_t)end->bytes, end->mr->rkey};
  return (struct rdma_conn_param){.private_data = place,
                                  .private_data_len = sizeof *place,
                                  .responder_resources = 1,
                                  .initiator_depth = 1,
                                  .retry_count = 7,
                                  .rnr_retry_count = 7};
}

static struct sockaddr_in address_of(const char* text) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(kPort)};
  inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

static int post_receive(const struct end* end, uint64_t wr_id, int piece) {
  struct ibv_sge list = {(uintptr_t)(end->bytes + piece * kPiece), kPiece, end->mr->lkey};
  struct ibv_recv_wr request = {.wr_id = wr_id, .sg_list = &list, .num_sge = 1}, *bad = NULL;
  return ibv_post_recv(end->id->qp, &request, &bad);
}

static int post_send(const struct end* end, uint64_t wr_id, int piece, enum ibv_wr_opcode opcode,
                     unsigned flags) {
  struct ibv_sge list = {(uintptr_t)(end->bytes + piece * kPiece), kPiece, end->mr->lkey};
  struct ibv_send_wr request = {.wr_id = wr_id,
                                .sg_list = &list,
                                .num_sge = 1,
                                .opcode = opcode,
                                .send_flags = flags},
                     *bad = NULL;
  request.wr.rdma.remote_addr = end->peer_at + 4 * kPiece;
  request.wr.rdma.rkey = end->peer_key;
  return ibv_post_send(end->id->qp, &request, &bad);
}

static enum ibv_wc_status complete(struct ibv_cq* cq) {
  struct ibv_wc wc = {0};
  while (ibv_poll_cq(cq, 1, &wc) == 0) continue;
  return wc.status;
}

static int listen_for_one(struct end* end, const char* address, bool wrong) {
  struct sockaddr_in own = address_of(address);
  struct place place;
  MUST(rdma_create_id(end->channel, &end->listener, NULL, RDMA_PS_TCP) == 0);
  MUST(rdma_bind_addr(end->listener, (struct sockaddr*)&own) == 0);
  MUST(rdma_listen(end->listener, 1) == 0);
  end->id = expect(end, RDMA_CM_EVENT_CONNECT_REQUEST);
  MUST(end->id != NULL);
  if (make_queues(end, wrong) != 0) return 1;
  for (int i = 0; i < 3 && !(is("dry") && wrong); i++) {
    const bool again = i == 1 && wrong && (is("target") || is("overlap"));
    MUST(post_receive(end, (uint64_t)i, again ? 0 : i) == 0);
  }
  struct rdma_conn_param given = parameters(&place, end);
  MUST(rdma_accept(end->id, &given) == 0);
  MUST(expect(end, RDMA_CM_EVENT_ESTABLISHED) == end->id);
  return 0;
}

static int connect_to(struct end* end, const char* address, bool wrong) {
  struct sockaddr_in peer = address_of(address);
  struct place place;
  MUST(rdma_create_id(end->channel, &end->id, NULL, RDMA_PS_TCP) == 0);
  MUST(rdma_resolve_addr(end->id, NULL, (struct sockaddr*)&peer, 2000) == 0);
  MUST(expect(end, RDMA_CM_EVENT_ADDR_RESOLVED) != NULL);
  MUST(rdma_resolve_route(end->id, 2000) == 0);
  MUST(expect(end, RDMA_CM_EVENT_ROUTE_RESOLVED) != NULL);
  if (make_queues(end, wrong) != 0) return 1;
  if (!is("region")) MUST(post_receive(end, 0, 0) == 0);
  struct rdma_conn_param given = parameters(&place, end);
  MUST(rdma_connect(end->id, &given) == 0);
  MUST(expect(end, RDMA_CM_EVENT_ESTABLISHED) == end->id);
  return 0;
}

static void destroy(struct end* end) {
  rdma_destroy_qp(end->id);
  if (end->mr != NULL) ibv_dereg_mr(end->mr);
  ibv_destroy_cq(end->sent);
  ibv_destroy_cq(end->received);
  ibv_destroy_comp_channel(end->completions);
  ibv_dealloc_pd(end->pd);
  rdma_destroy_id(end->id);
  if (end->listener != NULL) rdma_destroy_id(end->listener);
  rdma_destroy_event_channel(end->channel);
  if (end->object >= 0) shmctl(end->object, IPC_RMID, NULL);
  if (end->bytes != NULL && end->object < 0) munmap(end->bytes, kBytes);
}

// ---- The client's side of each kind

static int send_source(struct end* end, bool wrong) {
  MUST(post_send(end, 1, 1, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
  if (wrong) end->bytes[kPiece + 7] ^= 1;
  MUST(complete(end->sent) == IBV_WC_SUCCESS);
  end->bytes[kPiece + 7] ^= 1;
  return 0;
}

/// A receive is posted to piece 0.
static int send_from(struct end* end, int piece) {
  MUST(post_send(end, 1, piece, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
  MUST(complete(end->sent) == IBV_WC_SUCCESS);
  return 0;
}

/// Two messages, one after the other.
static int send_two(struct end* end) {
  for (int i = 1; i < 3; i++) {
    memset(end->bytes + i * kPiece, i, kPiece);
    MUST(post_send(end, (uint64_t)i, i, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
    MUST(complete(end->sent) == IBV_WC_SUCCESS);
  }
  return 0;
}

/// The server says that it has the first message: from then on its region or memory may be over.
static int write_after_answer(struct end* end) {
  MUST(post_send(end, 1, 1, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
  MUST(complete(end->sent) == IBV_WC_SUCCESS);
  MUST(complete(end->received) == IBV_WC_SUCCESS);
  MUST(post_send(end, 2, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED) == 0);
  (void)complete(end->sent);
  return 0;
}

/// SENDs from memory that it maps anew before or after it is registered.
static int send_anew(struct end* end, bool wrong) {
  const bool heap = is("heap");
  char* const at = heap ? sbrk(kBytes) : map_at(NULL, kBytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  const int over = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  struct ibv_mr* mr = NULL;
  for (int step = 0; step < 2; step++) {
    if (step == (wrong ? 0 : 1)) mr = ibv_reg_mr(end->pd, at, kBytes, IBV_ACCESS_LOCAL_WRITE);
    if (step == (wrong ? 1 : 0) && heap) MUST(brk(at) == 0 && brk(at + kBytes) == 0);
    if (step == (wrong ? 1 : 0) && !heap) MUST(map_at(at, kBytes, over, -1) == at);
  }
  MUST(mr != NULL);
  struct ibv_sge list = {(uintptr_t)at, kPiece, mr->lkey};
  struct ibv_send_wr request = {.wr_id = 1,
                                .sg_list = &list,
                                .num_sge = 1,
                                .opcode = IBV_WR_SEND,
                                .send_flags = IBV_SEND_SIGNALED},
                     *bad = NULL;
  MUST(ibv_post_send(end->id->qp, &request, &bad) == 0);
  MUST(complete(end->sent) == IBV_WC_SUCCESS);
  return ibv_dereg_mr(mr);
}

static int end_region(struct end* end, bool wrong) {
  MUST(post_send(end, 1, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED) == 0);
  if (!wrong) MUST(complete(end->sent) == IBV_WC_SUCCESS);
  MUST(ibv_dereg_mr(end->mr) == 0);
  end->mr = NULL;
  if (wrong) (void)complete(end->sent);
  return 0;
}

static int unmap(struct end* end, bool wrong) {
  MUST(post_send(end, 1, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED) == 0);
  if (!wrong) MUST(complete(end->sent) == IBV_WC_SUCCESS);
  MUST(munmap(end->bytes, kBytes) == 0);
  end->bytes = NULL;
  if (wrong) (void)complete(end->sent);
  return 0;
}

/// Three times as many as there is room for.
static int write_many(struct end* end, bool wrong) {
  for (int i = 0; i < 3 * kDepth; i++) {
    const bool signals = !wrong && i % kDepth == kDepth - 1;
    const int error =
        post_send(end, (uint64_t)i, 1, IBV_WR_RDMA_WRITE, signals ? IBV_SEND_SIGNALED : 0);
    if (wrong && error != 0) return 0;
    MUST(error == 0);
    if (signals) MUST(complete(end->sent) == IBV_WC_SUCCESS);
  }
  return 0;
}

static int fill_queue(struct end* end, bool wrong) {
  for (int i = 0; i < kDepth; i++) {
    MUST(post_send(end, (uint64_t)i, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED) == 0);
    if (!wrong) MUST(complete(end->sent) == IBV_WC_SUCCESS);
  }
  return 0;
}

/// The server's next message tells an event.
static int take_event(struct end* end, bool wrong) {
  struct ibv_cq* cq = NULL;
  void* unused = NULL;
  MUST(ibv_req_notify_cq(end->received, 0) == 0);
  MUST(post_send(end, 1, 1, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
  MUST(ibv_get_cq_event(end->completions, &cq, &unused) == 0);
  if (!wrong) ibv_ack_cq_events(cq, 1);
  MUST(complete(end->received) == IBV_WC_SUCCESS);
  return 0;
}

static int act_as_client(struct end* end, bool wrong) {
  if (is("source")) return send_source(end, wrong);
  if (is("both")) return send_from(end, wrong ? 0 : 1);
  if (is("target")) return send_two(end);
  if (is("resent") || is("heap")) return send_anew(end, wrong);
  if (is("key") || is("given") || changes()) return write_after_answer(end);
  if (is("region")) return end_region(end, wrong);
  if (is("unmapped")) return unmap(end, wrong);
  if (is("unsignaled")) return write_many(end, wrong);
  if (is("overrun")) return fill_queue(end, wrong);
  if (is("owed")) return take_event(end, wrong);
  if (is("dry")) {
    MUST(post_send(end, 1, 1, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
    MUST(complete(end->sent) == IBV_WC_SUCCESS);
  }
  return 0;
}

static int act_as_server(struct end* end, bool wrong) {
  if (is("dry") && wrong) {
    struct ibv_wc wc;
    for (int i = 0; i < 1000; i++) (void)ibv_poll_cq(end->received, 1, &wc);
    MUST(post_receive(end, 0, 0) == 0);
  }
  if (!is("key") && !is("given") && !is("owed") && !changes()) return 0;
  MUST(complete(end->received) == IBV_WC_SUCCESS);
  if (is("given") && wrong) MUST(munmap(end->bytes + 4 * kPiece, kBytes - 4 * kPiece) == 0);
  if (is("remapped")) MUST(change_nothing(end));
  if (changes() && wrong) MUST(change_memory(end->bytes));
  if (is("key") && wrong) {
    struct ibv_mr* const other = ibv_reg_mr(end->pd, end->bytes, kBytes, IBV_ACCESS_LOCAL_WRITE);
    MUST(other != NULL && ibv_dereg_mr(end->mr) == 0);
    end->mr = other;
  }
  MUST(post_send(end, 9, 3, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
  MUST(complete(end->sent) == IBV_WC_SUCCESS);
  return 0;
}

// ---- All of it

int run_mistake(int argc, const char* const* argv) {
  MUST(argc == 5);
  kind = argv[1];
  const bool wrong = strcmp(argv[2], "wrong") == 0;
  const bool serves = strcmp(argv[3], "server") == 0;
  const pid_t child = is("child") && serves ? register_and_fork() : 0;
  if (child != 0) {
    int status = 1;
    MUST(waitpid(child, &status, 0) == child);
    return status != 0;
  }
  struct end end = {.channel = rdma_create_event_channel(), .file = -1, .object = -1};
  MUST(end.channel != NULL);
  if (serves) {
    if (listen_for_one(&end, argv[4], wrong) != 0 || act_as_server(&end, wrong) != 0) return 1;
  } else {
    if (connect_to(&end, argv[4], wrong) != 0 || act_as_client(&end, wrong) != 0) return 1;
    MUST(rdma_disconnect(end.id) == 0);
    if (is("gone") && wrong) MUST(post_send(&end, 1, 1, IBV_WR_SEND, IBV_SEND_SIGNALED) == 0);
  }
  struct rdma_cm_event* last = NULL;
  MUST(rdma_get_cm_event(end.channel, &last) == 0);
  MUST(last->event == RDMA_CM_EVENT_DISCONNECTED);
  if (!(is("event") && wrong && !serves)) rdma_ack_cm_event(last);
  if (serves) rdma_disconnect(end.id);
  for (struct ibv_wc wc; ibv_poll_cq(end.received, 1, &wc) > 0;) continue;
  destroy(&end);
  return 0;
}
