// A replicated log: what its nodes and its client have in common.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/finds/cm.h"

enum Kind : uint32_t { kAppend = 1, kRead, kReply, kHello, kStored, kAck, kBeat };
enum Status : uint32_t { kOk, kNotHere };

/// What goes by SEND; a slot of a lane has room for one.
struct Message {
  Kind kind;
  Status status;
  uint32_t client;
  uint32_t rkey;  // HELLO: of the follower's log
  uint64_t sequence;
  uint64_t index;  // of an entry; HELLO, ACK: the last one that is there
  uint64_t payload;
  uint64_t birth;    // of the log, 0 if it has none yet
  uint64_t address;  // HELLO: of the follower's log
  uint64_t life;     // READ: of the process that answers
};
static_assert(sizeof(Message) <= kSlot);

/// What a connection is for, in the private data of its request.
enum Purpose : uint8_t { kFromClient, kFromLeader };

inline uint64_t real_now() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

/// The bug that is planted, if any: `twice`, `early` or `hole`.
struct Bug {
  std::string name;
  [[nodiscard]] bool is(const char* which) const { return name == which; }
};

/// Node 0 leads, and has the other's address.
int run_node(const Bug& bug, const char* follower);
int run_client(const char* leader, const char* follower);
