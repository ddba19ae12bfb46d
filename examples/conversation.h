// Two programs that talk once, as rping does: the client sends where its question lies, the server
// reads it (RDMA READ), writes the answer beside it (RDMA WRITE) and says so; after a second of
// silence the client disconnects. Both write down every event they get.
#pragma once

#include <string>
#include <vector>

#include "sim/host.h"

namespace anyrdma::examples {

struct Entry {
  sim::Instant when;
  std::string host;
  std::string what;
};
using Diary = std::vector<Entry>;

/// The server's program, to be run in a fiber: serves one connection. `diary` outlives the fiber.
void serve(sim::Host& host, Diary& diary);

/// The client's program, to be run in a fiber.
void ask(sim::Host& host, const sim::Address& server, Diary& diary);

}  // namespace anyrdma::examples
