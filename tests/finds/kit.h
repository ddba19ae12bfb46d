// What the programs of tests/finds have in common: the roles of a run, checks that end a program,
// waiting in virtual time, queue pairs connected by hand over TCP or by rdma_cm, and requests.
//
// Every function ends the process with status 3, and says where, when something fails that the
// program does not expect; functions whose name begins with `try_` give the error back instead.
// Nothing here is random and nothing reads the real time. Functions may be called by any thread.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Roles and checks

/// A program is started as `NAME buggy|fixed ROLE [PEER]`.
struct run {
  bool fixed;
  const char* role;
  const char* peer;  ///< The host to talk with; "" where none is given.
};

struct run begin(int argc, char** argv);
bool is(const struct run* run, const char* role);

/// Prints `FAIL file:line what` and ends the process with status 3.
#define CHECK(condition) ((condition) ? (void)0 : fail_at(__FILE__, __LINE__, #condition))
/// The same for two numbers, which are printed.
#define CHECK_EQ(have, want) \
  check_equal(__FILE__, __LINE__, #have, (long long)(have), (long long)(want))
/// Checks a call that returns 0 on success, and otherwise an error number, or -1 with errno.
#define CHECK_OK(call) check_ok(__FILE__, __LINE__, #call, (call))

_Noreturn void fail_at(const char* file, int line, const char* what);
void check_equal(const char* file, int line, const char* what, long long have, long long want);
void check_ok(const char* file, int line, const char* what, int result);

/// Ends the process at once with status 0, without running destructors or exit handlers.
_Noreturn void succeed(void);

// ---- Waiting, in virtual time

/// Sleeps. 0 gives the processor to others (sched_yield).
void pause_us(unsigned microseconds);
/// Of the monotonic clock.
uint64_t now_us(void);

/// The state of a wait in a polling loop: its sleeps grow from 1 us to 1 ms.
struct patience {
  uint64_t until_us;
  unsigned nap_us;
};
struct patience patience_ms(unsigned milliseconds);
/// Sleeps before the next poll. Returns false without sleeping if the time limit of the wait is
/// over.
bool nap(struct patience* patience);

/// Waits until a condition holds, for 10 s at most.
#define AWAIT(condition)                                                              \
  do {                                                                                \
    struct patience await_patience = patience_ms(10000);                              \
    while (!(condition)) {                                                            \
      if (!nap(&await_patience)) fail_at(__FILE__, __LINE__, "in time: " #condition); \
    }                                                                                 \
  } while (0)

// ---- Memory that others change meanwhile

/// Loads with acquire, stores with release.
static inline uint64_t load64(const void* at) {
  return __atomic_load_n((const uint64_t*)at, __ATOMIC_ACQUIRE);
}
static inline void store64(void* at, uint64_t value) {
  __atomic_store_n((uint64_t*)at, value, __ATOMIC_RELEASE);
}
static inline uint8_t load8(const void* at) {
  return __atomic_load_n((const uint8_t*)at, __ATOMIC_ACQUIRE);
}

// ---- Threads

pthread_t start_thread(void* (*body)(void*), void* argument);
void join_thread(pthread_t thread);

// ---- TCP beside RDMA

int listen_on(int port);
int accept_from(int listener);
/// Tries again until somebody listens, for 10 s at most.
int dial(const char* host, int port);
/// Connects the roles of a run by TCP: the server accepts one connection at port 5000, and any
/// other role connects to its peer there. Returns the socket.
int meet(const struct run* run);
/// Both sides send `size` bytes and take as many.
void swap_bytes(int socket, const void* out, void* in, size_t size);
/// Returns once the other side has come here, too.
void barrier(int socket);
void send_bytes(int socket, const void* out, size_t size);
void take_bytes(int socket, void* in, size_t size);

// ---- Queue pairs by hand

struct device {
  struct ibv_context* context;
  struct ibv_pd* pd;
  union ibv_gid gid;
  int gid_index;
};
/// The first device, and its first GID of an IPv4 address.
struct device open_device(void);

/// Options of a queue pair. A member that is 0 means the default named beside it.
struct options {
  enum ibv_qp_type type;             ///< IBV_QPT_RC
  unsigned sends;                    ///< 32: length of the send queue
  unsigned receives;                 ///< 32: length of the receive queue
  unsigned entries;                  ///< 128: of each completion queue
  unsigned inline_bytes;             ///< 0
  bool signal_all;                   ///< each request has a completion, whatever its flags
  bool one_cq;                       ///< send_cq is recv_cq, too
  unsigned rnr_retries;              ///< for ever: how often receiver not ready is tried again
  bool no_rnr_retry;                 ///< not even once
  unsigned retries;                  ///< 7
  struct ibv_srq* srq;               ///< none
  const struct device* device;       ///< one of its own
  struct ibv_comp_channel* channel;  ///< one of its own
  struct ibv_cq* send_cq;            ///< one of its own
  struct ibv_cq* recv_cq;            ///< one of its own
};

/// One end of a connection.
struct end {
  int socket;  ///< TCP to the peer; -1 over rdma_cm
  struct device device;
  struct ibv_comp_channel* channel;  ///< of both completion queues, which are not armed
  struct ibv_cq* send_cq;
  struct ibv_cq* recv_cq;
  struct ibv_qp* qp;
  struct ibv_ah* ah;  ///< of UD: the peer's
  uint32_t peer_qpn;
  struct rdma_cm_id* id;  ///< of rdma_cm; else null
};

/// Creates a queue pair and connects it with the queue pair that the peer creates at the same time.
/// The socket carries their addresses.
struct end connect_by(int socket, struct options options);
/// Creates another queue pair connected to the same peer, with completion queues of its own unless
/// the options name some.
struct end connect_another(const struct end* first, struct options options);

/// Registered memory of this process, and the address and key of the memory that the peer
/// registered at the same time.
struct memory {
  char* at;
  size_t size;
  struct ibv_mr* mr;
  uint64_t peer_at;
  uint32_t peer_key;
};
/// For one's own use only; all local and remote rights.
struct memory own_memory(const struct end* end, void* at, size_t size);
/// The same, and each tells the other address and key.
struct memory share_memory(const struct end* end, void* at, size_t size);

// ---- Requests. Offsets are within `memory`, one's own and the peer's. Flags are IBV_SEND_...

void post_send(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
               size_t size, unsigned flags);
void post_write(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
                size_t size, size_t peer_offset, unsigned flags);
void post_read(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
               size_t size, size_t peer_offset, unsigned flags);
void post_fetch_add(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
                    size_t peer_offset, uint64_t add, unsigned flags);
void post_compare_swap(const struct end* end, uint64_t id, const struct memory* memory,
                       size_t offset, size_t peer_offset, uint64_t expected, uint64_t wanted,
                       unsigned flags);
void post_receive(const struct end* end, uint64_t id, const struct memory* memory, size_t offset,
                  size_t size);

/// Any request at all; 0 or the error of ibv_post_send(3).
struct request {
  enum ibv_wr_opcode opcode;
  uint64_t id;
  const struct memory* memory;
  size_t offset, size, peer_offset;
  unsigned flags;
  uint32_t immediate;
  uint64_t compare_add, swap;
};
int try_post(const struct end* end, struct request request);
void post(const struct end* end, struct request request);

/// The next completion, which must be a success, within 10 s.
struct ibv_wc complete(struct ibv_cq* cq);
/// The next completion, of whatever status, within 10 s.
struct ibv_wc complete_any(struct ibv_cq* cq);
/// False: none came in time.
bool try_complete(struct ibv_cq* cq, struct ibv_wc* wc, unsigned milliseconds);
/// A poll: false when there is none.
bool poll_once(struct ibv_cq* cq, struct ibv_wc* wc);
/// Waits without limit for an event of the completion channel, and acknowledges it. Returns its
/// queue.
struct ibv_cq* take_cq_event(struct ibv_comp_channel* channel);
void arm(struct ibv_cq* cq);
/// Moves the queue pair to ERR: what is outstanding is flushed.
void to_error(struct ibv_qp* qp);

// ---- Connections by rdma_cm

struct rdma_event_channel* cm_channel(void);
struct rdma_cm_id* cm_listen(struct rdma_event_channel* channel, int port);
/// Waits for the next CM event. NULL: none came within that time. The caller must acknowledge the
/// event.
struct rdma_cm_event* cm_next(struct rdma_event_channel* channel, unsigned milliseconds);
/// Waits up to 100 s for the next CM event, which must have the given type. Acknowledges the event
/// and returns its id.
struct rdma_cm_id* cm_expect(struct rdma_event_channel* channel, enum rdma_cm_event_type type);
/// An id whose address and route are resolved.
struct rdma_cm_id* cm_resolve(struct rdma_event_channel* channel, const char* host, int port);
/// Creates a protection domain, completion queues and a queue pair for an id.
struct end cm_end(struct rdma_cm_id* id, struct options options);
/// Connection parameters that retry as often as they can, without private data.
struct rdma_conn_param cm_parameters(void);
/// The server's whole way: CONNECT_REQUEST, queue pair, accept, ESTABLISHED.
struct end cm_accept(struct rdma_event_channel* channel, struct options options);
/// The client's whole way: resolve, queue pair, connect, ESTABLISHED.
struct end cm_connect(struct rdma_event_channel* channel, const char* host, int port,
                      struct options options);
/// Destroys queue pair, queues, protection domain and id.
void cm_destroy(struct end* end);
