// A key-value store of a primary and a backup: what its server and its client have in common.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/finds/cm.h"

enum Kind : uint32_t { kPut = 1, kGet, kReply, kHello, kCommit, kAck, kBeat, kBeatAck };
enum Status : uint32_t { kOk, kNotPrimary, kUnavailable };

/// What goes by SEND; a slot of a lane has room for one.
struct Message {
  Kind kind;
  Status status;
  uint32_t client;  // who asks, and
  uint32_t rkey;    // HELLO: of the backup's table
  uint64_t sequence, attempt;
  uint64_t key, value;
  uint64_t index;
  uint64_t address;
};
static_assert(sizeof(Message) <= kSlot);

/// What a connection is for, in the private data of its request.
enum Purpose : uint8_t { kFromClient, kFromPrimary };

inline constexpr int kReceives = 16;  // slots 0 to 15; the others are for sending

/// The bug that is planted, if any: `reuse`, `deadlock` or `lease`.
struct Bug {
  std::string name;
  [[nodiscard]] bool is(const char* which) const { return name == which; }
};

int run_server(const Bug& bug, int me, const char* backup);
int run_client(const char* const* servers);
