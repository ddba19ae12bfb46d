// What the programs about connections share: calls of the connection manager and of verbs that have
// a deadline, and two ways to end. A program that the network, its peer or its device leaves in the
// lurch gives up with status 10, which its scenario allows. A program whose own promise is broken
// ends with 3.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kPort = 7471, kGaveUp = 10, kBroken = 3, kPatience = 8000 };

/// Each ends the process and prints why: give_up() with status 10 (a fault prevented the work),
/// broken() with status 3 (a promise of the program was broken). Callable from any thread.
void give_up(const char* why) __attribute__((noreturn));
void broken(const char* why) __attribute__((noreturn));
/// Checks a call that injected faults may fail: if it does not return 0, the process ends with
/// status 10.
#define NEED(call)                   \
  do {                               \
    if ((call) != 0) give_up(#call); \
  } while (0)
/// A promise of the program's own.
#define CHECK(what)             \
  do {                          \
    if (!(what)) broken(#what); \
  } while (0)

/// Microseconds of CLOCK_MONOTONIC.
int64_t now_us(void);
/// Sleeps so long.
void sleep_us(int64_t us);
/// Waits up to `ms` milliseconds until the descriptor is readable; -1: without limit. Returns
/// whether it is.
bool readable(int fd, int ms);
/// Waits up to `ms` milliseconds (-1: without limit) for the next CM event of the channel. NULL:
/// none came.
struct rdma_cm_event* next_event(struct rdma_event_channel* channel, int ms);
/// Waits up to `ms` milliseconds for the next CM event, acknowledges it and returns its type; -1:
/// none came.
int next_type(struct rdma_event_channel* channel, int ms);
/// A channel, or the process gives up.
struct rdma_event_channel* open_channel(void);
/// An id that listens at this port of all addresses.
struct rdma_cm_id* listen_at(struct rdma_event_channel* channel, int port, int backlog);

/// The memory and queues of one connection.
struct lane {
  struct rdma_cm_id* id;
  struct ibv_pd* pd;
  struct ibv_comp_channel* comp;
  struct ibv_cq* cq;
  struct ibv_mr* mr;
  char* memory;  // 64 slots of 64 bytes
};
enum { kSlot = 64, kSlots = 64 };

/// Protection domain, completion channel, queue, 4 KiB of memory that peers may read and write, and
/// a queue pair of 32 requests each way for this id. False: a call has failed.
bool lane_open(struct lane* lane, struct rdma_cm_id* id);
/// Like lane_open(), in a protection domain that other connections use too and that lane_close()
/// does not destroy.
bool lane_open_in(struct lane* lane, struct rdma_cm_id* id, struct ibv_pd* pd);
/// Destroys all objects of a lane (a connection with its resources), including the id. Objects that
/// were not created are skipped.
void lane_close(struct lane* lane);
/// Slot n of the lane's memory.
char* slot(struct lane* lane, int n);
/// A receive into slot n, wr_id n. 0 or an errno.
int post_recv(struct lane* lane, int n);
/// Posts a signalled SEND of slot n with wr_id 100 + n. Returns 0 or an errno.
int post_send(struct lane* lane, int n);
/// Posts a signalled RDMA WRITE or READ (`opcode`) between slot n and the peer's memory, with wr_id
/// 100 + n. Returns 0 or an errno.
int post_rdma(struct lane* lane, int n, size_t bytes, enum ibv_wr_opcode opcode, uint64_t address,
              uint32_t rkey);
/// Waits up to `ms` milliseconds for the next completion, with the completion channel. Returns
/// false if none came.
bool next_wc(struct lane* lane, struct ibv_wc* wc, int ms);
/// Waits up to `ms` milliseconds (-1: without limit) until the channel has an event or a lane has a
/// completion. Precondition: next_wc() has returned false for each lane.
void wait_any(struct rdma_event_channel* channel, struct lane* lanes, int count, int ms);
/// The next completion, which succeeded, or the process gives up.
struct ibv_wc good_wc(struct lane* lane);

/// Call when the peer has not answered for a minute. Ends the process with status 10 if the peer's
/// device does not answer either, or the connection has ended; else with status 3, since the peer
/// has lost the request.
void unanswered(struct lane* lane, const char* why) __attribute__((noreturn));
/// Waits for the next completion of a receive; calls unanswered() if none comes. A completion with
/// an error ends the process with status 10.
struct ibv_wc answer(struct lane* lane, const char* why);

/// Resolves an address and port, and the route, for the id. Returns false on failure.
bool resolve(struct rdma_cm_id* id, const char* host, int port);
/// Returns connection parameters: the number of retries of a request and of retries after RNR NAKs,
/// and private data for the peer.
struct rdma_conn_param params(int retries, int rnr_retries, const void* data, size_t bytes);
/// Connects to an address and waits until the connection is established. On failure, the process
/// ends with status 10.
void dial(struct lane* lane, struct rdma_event_channel* channel, const char* host, int port,
          const void* data, size_t bytes);
/// Waits for the next event, which must have the given type, copies up to `bytes` of its private
/// data, and returns its id. On failure, the process ends with status 10.
struct rdma_cm_id* expect_event(struct rdma_event_channel* channel, enum rdma_cm_event_type type,
                                void* data, size_t bytes);

/// The server's counterpart of dial(): takes a request, posts receives into slots 0 to n - 1,
/// accepts, and waits for ESTABLISHED. On failure, the process ends with status 10.
void take_in(struct lane* lane, struct rdma_event_channel* channel, int receives);
/// Waits for DISCONNECTED, or whatever else ends a connection, within the patience.
void await_end(struct rdma_event_channel* channel);

/// Of `NAME buggy|fixed ROLE [HOST]`, the status of the process.
int by_role(int argc, char** argv, bool* fixed, int (*server)(void),
            int (*client)(const char* host));

/// TCP: a listening socket, a connection to it (tried for a second), -1 where there is none.
int tcp_listen(int port);
int tcp_dial(const char* host, int port);
/// Accepts within the patience, or gives up.
int tcp_accept(int listener);
/// All bytes, or the process gives up.
void tcp_write(int fd, const void* data, size_t bytes);
void tcp_read(int fd, void* data, size_t bytes);

#ifdef __cplusplus
}
#endif
