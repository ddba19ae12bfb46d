// What the programs with two rails share, on cm.h: a client that has a connection over each of two
// devices, and a server that takes what comes over either. A connection that cannot be made or that
// breaks is no reason to give up: there is the other rail.
#pragma once

#include "tests/finds/cm.h"

enum { kRails = 2, kServed = 14 };

/// What the server tells each client that connects: where its memory is on this device, and when
/// this process of the server began.
struct place {
  uint64_t address, life;
  uint32_t rkey, unused;
};

/// A client's connection over one rail.
struct rail {
  struct rdma_event_channel* channel;
  struct lane lane;
  struct place place;
  bool up;  ///< connected, and no request has failed
};

/// When this process began, in nanoseconds of CLOCK_REALTIME: a process that is started again has a
/// later one.
uint64_t own_life(void);
/// Connects over rail `number` to a server whose address on rail 0 is `host`. Its requests fail
/// after two timeouts of 17 ms. Returns false on failure, without a connection. A server that has
/// begun anew since the first connection ends the process with status 10.
bool rail_connect(struct rail* rail, int number, const char* host);
/// Connects over both, or the process gives up.
void rails_connect(struct rail* rails, const char* host);
/// Connects a rail anew, with a queue pair on the completion queue that it has. Leaves the earlier
/// id and its queue pair to the caller, and its completions in the queue. Returns false on failure.
bool rail_renew(struct rail* rail, int number, const char* host);
/// Disconnects and destroys the objects of a rail. It may have none.
void rail_close(struct rail* rail);
/// Whether the peer's device answers a WRITE of no bytes. Other completions of the rail are lost.
bool rail_alive(struct rail* rail);

/// A server's connection.
struct served {
  struct lane lane;  ///< lane.id is NULL: unused
  struct ibv_mr* mr;
  uint64_t life;  ///< of its client
};

struct server {
  struct rdma_event_channel* channel;
  uint64_t life;  ///< of the client that was started last, which alone has connections
  struct served all[kServed];
  void* page;  ///< what clients may access: on each device with a key of its own
  size_t bytes;
  int receives;  ///< into slots 0 to receives - 1 of each connection
  /// Called for each message: slot wc->wr_id has its bytes. The receive is posted again after that.
  /// May be NULL if there are no receives.
  void (*on_message)(struct server*, struct served*, const struct ibv_wc*);
};
/// Serves until the device of the listener is gone.
int serve_rails(struct server* server);
/// Takes one CM event, if there is one, and all completions.
void server_step(struct server* server);
/// Destroys a connection's queue pair and everything else of it.
void served_close(struct served* served);
