#include "tests/finds/kit.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

enum { kPort = 5000, kWaitMs = 10000, kPsn = 7 };

// ---- Roles and checks

struct run begin(int argc, char** argv) {
  if (argc < 3 || (strcmp(argv[1], "buggy") != 0 && strcmp(argv[1], "fixed") != 0)) {
    fprintf(stderr, "usage: %s buggy|fixed ROLE [PEER]\n", argv[0]);
    exit(2);
  }
  return (struct run){
      .fixed = strcmp(argv[1], "fixed") == 0, .role = argv[2], .peer = argc > 3 ? argv[3] : ""};
}

bool is(const struct run* run, const char* role) {
  return strcmp(run->role, role) == 0;
}

void fail_at(const char* file, int line, const char* what) {
  fprintf(stderr, "FAIL %s:%d %s\n", file, line, what);
  _exit(3);
}

void check_equal(const char* file, int line, const char* what, long long have, long long want) {
  if (have == want) return;
  char text[200];
  snprintf(text, sizeof text, "%s is %lld, not %lld", what, have, want);
  fail_at(file, line, text);
}

void check_ok(const char* file, int line, const char* what, int result) {
  if (result == 0) return;
  char text[200];
  snprintf(text, sizeof text, "%s: %s", what, strerror(result > 0 ? result : errno));
  fail_at(file, line, text);
}

void succeed(void) {
  fflush(NULL);
  _exit(0);
}

// ---- Waiting

void pause_us(unsigned microseconds) {
  if (microseconds == 0) {
    sched_yield();
    return;
  }
  const struct timespec time = {.tv_sec = microseconds / 1000000,
                                .tv_nsec = microseconds % 1000000 * 1000L};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

uint64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

struct patience patience_ms(unsigned milliseconds) {
  return (struct patience){.until_us = now_us() + 1000ull * milliseconds, .nap_us = 1};
}

bool nap(struct patience* patience) {
  if (now_us() >= patience->until_us) return false;
  pause_us(patience->nap_us);
  if (patience->nap_us < 1000) patience->nap_us *= 2;
  return true;
}

// ---- Threads

pthread_t start_thread(void* (*body)(void*), void* argument) {
  pthread_t thread;
  CHECK_OK(pthread_create(&thread, NULL, body, argument));
  return thread;
}

void join_thread(pthread_t thread) {
  CHECK_OK(pthread_join(thread, NULL));
}

// ---- TCP

int listen_on(int port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  CHECK(listener >= 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  CHECK_OK(bind(listener, (const struct sockaddr*)&address, sizeof address));
  CHECK_OK(listen(listener, 8));
  return listener;
}

int accept_from(int listener) {
  const int socket = accept(listener, NULL, NULL);
  CHECK(socket >= 0);
  return socket;
}

static struct sockaddr_in address_of(const char* host, int port) {
  const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
  struct addrinfo* found = NULL;
  CHECK_EQ(getaddrinfo(host, NULL, &hints, &found), 0);
  struct sockaddr_in address;
  memcpy(&address, found->ai_addr, sizeof address);
  freeaddrinfo(found);
  address.sin_port = htons((uint16_t)port);
  return address;
}

int dial(const char* host, int port) {
  const struct sockaddr_in address = address_of(host, port);
  struct patience patience = patience_ms(kWaitMs);
  do {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(s >= 0);
    if (connect(s, (const struct sockaddr*)&address, sizeof address) == 0) return s;
    close(s);
  } while (nap(&patience));
  fail_at(__FILE__, __LINE__, "the peer listens in time");
}

int meet(const struct run* run) {
  if (!is(run, "server")) return dial(run->peer, kPort);
  const int listener = listen_on(kPort);
  const int socket = accept_from(listener);
  close(listener);
  return socket;
}

void send_bytes(int socket, const void* out, size_t size) {
  CHECK_EQ(send(socket, out, size, MSG_NOSIGNAL), size);
}

void take_bytes(int socket, void* in, size_t size) {
  for (size_t taken = 0; taken < size;) {
    const ssize_t got = recv(socket, (char*)in + taken, size - taken, 0);
    CHECK(got > 0);
    taken += (size_t)got;
  }
}

void swap_bytes(int socket, const void* out, void* in, size_t size) {
  send_bytes(socket, out, size);
  take_bytes(socket, in, size);
}

void barrier(int socket) {
  const char here = 'b';
  char there;
  swap_bytes(socket, &here, &there, 1);
}

// ---- Queue pairs by hand

struct device open_device(void) {
  struct device device = {0};
  int count = 0;
  struct ibv_device** list = ibv_get_device_list(&count);
  CHECK(list != NULL && count > 0);
  device.context = ibv_open_device(list[0]);
  CHECK(device.context != NULL);
  ibv_free_device_list(list);
  device.pd = ibv_alloc_pd(device.context);
  CHECK(device.pd != NULL);

  struct ibv_port_attr port;
  CHECK_OK(ibv_query_port(device.context, 1, &port));
  const char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '\xff', '\xff'};
  for (; device.gid_index < port.gid_tbl_len; device.gid_index++) {
    CHECK_OK(ibv_query_gid(device.context, 1, device.gid_index, &device.gid));
    if (memcmp(device.gid.raw, mapped, sizeof mapped) == 0) return device;
  }
  fail_at(__FILE__, __LINE__, "there is a GID of an IPv4 address");
}

static unsigned or_default(unsigned value, unsigned otherwise) {
  return value != 0 ? value : otherwise;
}

static struct ibv_cq* make_cq(const struct end* end, struct ibv_cq* given, unsigned entries) {
  if (given != NULL) return given;
  struct ibv_cq* cq =
      ibv_create_cq(end->device.context, (int)or_default(entries, 128), NULL, end->channel, 0);
  CHECK(cq != NULL);
  return cq;
}

static struct ibv_qp_init_attr make_queues(struct end* end, const struct options* options) {
  end->channel = options->channel;
  if (end->channel == NULL) end->channel = ibv_create_comp_channel(end->device.context);
  CHECK(end->channel != NULL);
  end->send_cq = make_cq(end, options->send_cq, options->entries);
  struct ibv_cq* same = options->one_cq ? end->send_cq : options->recv_cq;
  end->recv_cq = make_cq(end, same, options->entries);
  return (struct ibv_qp_init_attr){
      .send_cq = end->send_cq,
      .recv_cq = end->recv_cq,
      .srq = options->srq,
      .qp_type = options->type != 0 ? options->type : IBV_QPT_RC,
      .sq_sig_all = options->signal_all,
      .cap = {.max_send_wr = or_default(options->sends, 32),
              .max_recv_wr = options->srq != NULL ? 0 : or_default(options->receives, 32),
              .max_send_sge = 2,
              .max_recv_sge = 1,
              .max_inline_data = options->inline_bytes}};
}

enum {
  kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
            IBV_ACCESS_REMOTE_ATOMIC,
  kUdKey = 0x1234
};

static void to_init(struct end* end) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (end->qp->qp_type == IBV_QPT_UD) {
    attr.qkey = kUdKey;
    mask |= IBV_QP_QKEY;
  } else {
    attr.qp_access_flags =
        end->qp->qp_type == IBV_QPT_RC ? kRights : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    mask |= IBV_QP_ACCESS_FLAGS;
  }
  CHECK_OK(ibv_modify_qp(end->qp, &attr, mask));
}

static void to_rtr(struct end* end, struct ibv_ah_attr path) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                             .path_mtu = IBV_MTU_1024,
                             .dest_qp_num = end->peer_qpn,
                             .rq_psn = kPsn,
                             .max_dest_rd_atomic = 4,
                             .min_rnr_timer = 12,
                             .ah_attr = path};
  int mask = IBV_QP_STATE;
  if (end->qp->qp_type != IBV_QPT_UD)
    mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (end->qp->qp_type == IBV_QPT_RC) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  CHECK_OK(ibv_modify_qp(end->qp, &attr, mask));
}

static void to_rts(struct end* end, const struct options* options) {
  struct ibv_qp_attr attr = {
      .qp_state = IBV_QPS_RTS,
      .sq_psn = kPsn,
      .timeout = 14,
      .retry_cnt = (uint8_t)or_default(options->retries, 7),
      .rnr_retry = (uint8_t)(options->no_rnr_retry ? 0 : or_default(options->rnr_retries, 7)),
      .max_rd_atomic = 4};
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (end->qp->qp_type == IBV_QPT_RC)
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  CHECK_OK(ibv_modify_qp(end->qp, &attr, mask));
}

static void connect_qp(struct end* end, const struct options* options) {
  struct name {
    uint32_t qpn;
    union ibv_gid gid;
  } mine = {.qpn = end->qp->qp_num, .gid = end->device.gid}, theirs;
  swap_bytes(end->socket, &mine, &theirs, sizeof mine);
  end->peer_qpn = theirs.qpn;
  struct ibv_ah_attr path = {
      .is_global = 1,
      .port_num = 1,
      .grh = {.dgid = theirs.gid, .sgid_index = (uint8_t)end->device.gid_index, .hop_limit = 64}};
  to_init(end);
  to_rtr(end, path);
  to_rts(end, options);
  if (end->qp->qp_type == IBV_QPT_UD) {
    end->ah = ibv_create_ah(end->device.pd, &path);
    CHECK(end->ah != NULL);
  }
  barrier(end->socket);
}

struct end connect_by(int socket, struct options options) {
  struct end end = {.socket = socket};
  end.device = options.device != NULL ? *options.device : open_device();
  struct ibv_qp_init_attr init = make_queues(&end, &options);
  end.qp = ibv_create_qp(end.device.pd, &init);
  CHECK(end.qp != NULL);
  connect_qp(&end, &options);
  return end;
}

struct end connect_another(const struct end* first, struct options options) {
  options.device = &first->device;
  return connect_by(first->socket, options);
}

struct memory own_memory(const struct end* end, void* at, size_t size) {
  struct memory memory = {.at = at, .size = size};
  memory.mr = ibv_reg_mr(end->device.pd, at, size, kRights);
  CHECK(memory.mr != NULL);
  return memory;
}

struct memory share_memory(const struct end* end, void* at, size_t size) {
  struct memory memory = own_memory(end, at, size);
  struct place {
    uint64_t at;
    uint32_t key;
  } mine = {.at = (uintptr_t)at, .key = memory.mr->rkey}, theirs;
  swap_bytes(end->socket, &mine, &theirs, sizeof mine);
  memory.peer_at = theirs.at;
  memory.peer_key = theirs.key;
  return memory;
}

// ---- Requests

static struct ibv_sge piece(const struct memory* memory, size_t offset, size_t size) {
  return (struct ibv_sge){
      .addr = (uintptr_t)memory->at + offset, .length = (uint32_t)size, .lkey = memory->mr->lkey};
}

static void address_request(struct ibv_send_wr* wr, const struct end* end,
                            const struct request* request) {
  const struct memory* memory = request->memory;
  if (end->ah != NULL) {
    wr->wr.ud.ah = end->ah;
    wr->wr.ud.remote_qpn = end->peer_qpn;
    wr->wr.ud.remote_qkey = kUdKey;
  } else if (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
             request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
    wr->wr.atomic.remote_addr = memory->peer_at + request->peer_offset;
    wr->wr.atomic.rkey = memory->peer_key;
    wr->wr.atomic.compare_add = request->compare_add;
    wr->wr.atomic.swap = request->swap;
  } else {
    wr->wr.rdma.remote_addr = memory->peer_at + request->peer_offset;
    wr->wr.rdma.rkey = memory->peer_key;
  }
}

int try_post(const struct end* end, struct request request) {
  struct ibv_sge sge = piece(request.memory, request.offset, request.size);
  struct ibv_send_wr wr = {.wr_id = request.id,
                           .sg_list = &sge,
                           .num_sge = request.size != 0,
                           .opcode = request.opcode,
                           .send_flags = request.flags,
                           .imm_data = htonl(request.immediate)};
  struct ibv_send_wr* bad;
  address_request(&wr, end, &request);
  return ibv_post_send(end->qp, &wr, &bad);
}

void post(const struct end* end, struct request request) {
  CHECK_OK(try_post(end, request));
}

void post_send(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
               size_t size, unsigned flags) {
  post(end, (struct request){.opcode = IBV_WR_SEND,
                             .id = id,
                             .memory = memory,
                             .offset = offset,
                             .size = size,
                             .flags = flags});
}

void post_write(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
                size_t size, size_t peer_offset, unsigned flags) {
  post(end, (struct request){.opcode = IBV_WR_RDMA_WRITE,
                             .id = id,
                             .memory = memory,
                             .offset = offset,
                             .size = size,
                             .peer_offset = peer_offset,
                             .flags = flags});
}

void post_read(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
               size_t size, size_t peer_offset, unsigned flags) {
  post(end, (struct request){.opcode = IBV_WR_RDMA_READ,
                             .id = id,
                             .memory = memory,
                             .offset = offset,
                             .size = size,
                             .peer_offset = peer_offset,
                             .flags = flags});
}

void post_fetch_add(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
                    size_t peer_offset, uint64_t add, unsigned flags) {
  post(end, (struct request){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                             .id = id,
                             .memory = memory,
                             .offset = offset,
                             .size = 8,
                             .peer_offset = peer_offset,
                             .flags = flags,
                             .compare_add = add});
}

void post_compare_swap(const struct end* end, uint64_t id, const struct memory* memory,
                       size_t offset, size_t peer_offset, uint64_t expected, uint64_t wanted,
                       unsigned flags) {
  post(end, (struct request){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                             .id = id,
                             .memory = memory,
                             .offset = offset,
                             .size = 8,
                             .peer_offset = peer_offset,
                             .flags = flags,
                             .compare_add = expected,
                             .swap = wanted});
}

void post_receive(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
                  size_t size) {
  struct ibv_sge sge = piece(memory, offset, size);
  struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1};
  struct ibv_recv_wr* bad;
  if (end->qp->srq != NULL) {
    CHECK_OK(ibv_post_srq_recv(end->qp->srq, &wr, &bad));
  } else {
    CHECK_OK(ibv_post_recv(end->qp, &wr, &bad));
  }
}

// ---- Completions

bool poll_once(struct ibv_cq* cq, struct ibv_wc* wc) {
  const int count = ibv_poll_cq(cq, 1, wc);
  CHECK(count >= 0);
  return count == 1;
}

bool try_complete(struct ibv_cq* cq, struct ibv_wc* wc, unsigned milliseconds) {
  struct patience patience = patience_ms(milliseconds);
  while (!poll_once(cq, wc)) {
    if (!nap(&patience)) return false;
  }
  return true;
}

struct ibv_wc complete_any(struct ibv_cq* cq) {
  struct ibv_wc wc;
  CHECK(try_complete(cq, &wc, kWaitMs));
  return wc;
}

struct ibv_wc complete(struct ibv_cq* cq) {
  const struct ibv_wc wc = complete_any(cq);
  if (wc.status != IBV_WC_SUCCESS) fail_at(__FILE__, __LINE__, ibv_wc_status_str(wc.status));
  return wc;
}

struct ibv_cq* take_cq_event(struct ibv_comp_channel* channel) {
  struct ibv_cq* cq;
  void* context;
  CHECK_OK(ibv_get_cq_event(channel, &cq, &context));
  ibv_ack_cq_events(cq, 1);
  return cq;
}

void arm(struct ibv_cq* cq) {
  CHECK_OK(ibv_req_notify_cq(cq, 0));
}

void to_error(struct ibv_qp* qp) {
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
  CHECK_OK(ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}
