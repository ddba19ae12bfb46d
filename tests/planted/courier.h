// A sample application: clients bring parcels to a server, which gives each client a channel and a
// fiber of its own, writes the parcel back into the client's memory and says so. Clients are
// impatient: they ask again when no answer comes, and have to tell late answers from theirs. It
// survives whatever a network does, and knows what may never happen.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/host.h"
#include "tests/planted/line.h"

namespace anyrdma::planted {

inline constexpr std::uint16_t kPort = 7471;

/// Both sides' plan.
struct Visit {
  std::uint32_t client = 0;
  int rounds = 2;
  bool unwelcome = false;  ///< the server rejects it
  int attempts = 2;        ///< when the connection fails
};

/// Starts the server; it serves until its listener's device is gone or the world ends.
void start_server(sim::Host& host, Journal& journal);
/// Starts a client.
void start_client(sim::Host& host, const sim::Host& server, const Visit& visit, Journal& journal);

}  // namespace anyrdma::planted
