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

/// Ends the process with status 10, or with 3, and says why. From any thread.
void give_up(const char* why) __attribute__((noreturn));
void broken(const char* why) __attribute__((noreturn));
/// A call that any fault may fail: it is 0, or the process gives up.
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
/// Whether the descriptor can be read within so many milliseconds; -1: for ever.
bool readable(int fd, int ms);
/// The next event of the channel, or NULL after so many milliseconds; -1: for ever.
struct rdma_cm_event* next_event(struct rdma_event_channel* channel, int ms);
/// Takes the next event, acknowledges it, and says its type; -1 after so many milliseconds.
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
/// The same in a protection domain that others use, too, and that `lane_close` leaves alone.
bool lane_open_in(struct lane* lane, struct rdma_cm_id* id, struct ibv_pd* pd);
/// Destroys it all, the id as well. What was not made is left out.
void lane_close(struct lane* lane);
/// Slot n of the lane's memory.
char* slot(struct lane* lane, int n);
/// A receive into slot n, wr_id n. 0 or an errno.
int post_recv(struct lane* lane, int n);
/// A signalled SEND of slot n, wr_id 100 + n. 0 or an errno.
int post_send(struct lane* lane, int n);
/// A signalled WRITE, READ (by opcode) of bytes of slot n to or from there, wr_id 100 + n.
int post_rdma(struct lane* lane, int n, size_t bytes, enum ibv_wr_opcode opcode, uint64_t address,
              uint32_t rkey);
/// The next completion, by notification, within so many milliseconds. False: there was none.
bool next_wc(struct lane* lane, struct ibv_wc* wc, int ms);
/// Waits until the channel has an event or one of the lanes a completion, for so many milliseconds
/// at most; -1: for ever. Of each lane `next_wc` has returned false before.
void wait_any(struct rdma_event_channel* channel, struct lane* lanes, int count, int ms);
/// The next completion, which succeeded, or the process gives up.
struct ibv_wc good_wc(struct lane* lane);

/// What an answer that does not come for a minute says. Gives up if the peer's device does not
/// answer, either, or the connection is over; else the peer is there and has forgotten the request:
/// it ends with 3.
void unanswered(struct lane* lane, const char* why) __attribute__((noreturn));
/// The next completion of a receive, or `unanswered`. Gives up if any completion is in error.
struct ibv_wc answer(struct lane* lane, const char* why);

/// Resolves this address and port for the id; false: it could not be.
bool resolve(struct rdma_cm_id* id, const char* host, int port);
/// Parameters of a connection: retries of a request, of a receive that is not there, and data for
/// the peer.
struct rdma_conn_param params(int retries, int rnr_retries, const void* data, size_t bytes);
/// A connection to this address, made and established, or the process gives up.
void dial(struct lane* lane, struct rdma_event_channel* channel, const char* host, int port,
          const void* data, size_t bytes);
/// Takes the next event, which is to be this one, and hands out the id and up to `bytes` of its
/// private data; or the process gives up.
struct rdma_cm_id* expect_event(struct rdma_event_channel* channel, enum rdma_cm_event_type type,
                                void* data, size_t bytes);

/// The other side of `dial`: takes a request, posts receives into slots 0 to n - 1, accepts, and
/// waits for ESTABLISHED; or the process gives up.
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
