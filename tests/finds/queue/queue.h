// A work queue: what its server and its clients have in common.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/finds/cm.h"

/// Written into the ring of a client's connection by RDMA WRITE, then announced by SEND of its
/// number.
struct Job {
  uint64_t number;
  uint64_t client;
  uint64_t payload;
  uint64_t takes_us;
  uint64_t buffer;  // of the result: one of the client's slots
  uint64_t check;
};
/// Written into the client's slot, then announced by SEND of its number.
struct Outcome {
  uint64_t number;
  uint64_t value;
};
static_assert(sizeof(Job) <= kSlot);

/// Private data: of a request, where results go; of the answer, where the ring is.
struct Place {
  uint64_t address;
  uint32_t rkey;
  uint32_t client;
};

inline constexpr int kWindow = 2;  // jobs of a client under way, slots of a ring, receives

inline uint64_t value_of(uint64_t payload) {
  return payload * payload + 7;
}
inline uint64_t check_of(const Job& j) {
  return j.number * 31 ^ j.client * 17 ^ j.payload * 13 ^ j.takes_us * 5 ^ j.buffer;
}

/// The bug that is planted, if any: `stale-rkey`, `reuse` or `norepost`.
struct Bug {
  std::string name;
  [[nodiscard]] bool is(const char* which) const { return name == which; }
};

int run_server(const Bug& bug);
int run_client(const Bug& bug, const char* server, uint32_t client);
