// Standard scenarios: what most users of RDMA do, by programs that any fault must leave whole. What
// goes wrong in them goes wrong in the connection manager, the device or the simulator.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/explore.h"

namespace anyrdma::sim::scenarios {

/// What is to be left of a run.
struct Staging {
  Tracing tracing = Tracing::kHash;  ///< kKeep where steps or the trace are wanted
  std::string* trace = nullptr;      ///< takes the trace as text
  bool rehearsal = false;            ///< its problem is why it cannot begin, or none; nothing runs
  std::string record{};              ///< a file for all that happens; empty: none
  std::string command{};             ///< that has the run again; for the recording
};

/// A standard scenario. Faults occur during the first 30 s of virtual time (parameter "seconds");
/// then all faults are ended, and every program must finish.
struct Standard {
  std::string_view name;    ///< "connect"
  std::string_view what;    ///< in a sentence
  std::string_view menu;    ///< the faults that can be drawn, as text
  std::string_view placed;  ///< the actions that can be placed at every step, each after "at 0s: "
  std::vector<Parameter> sizes;  ///< the parameters it heeds
  std::function<Outcome(const Trial& trial, const Staging& staging)> run;
};

[[nodiscard]] std::span<const Standard> standard();
/// Null: there is none of that name.
[[nodiscard]] const Standard* find(std::string_view name);

// --- each of them
// ---------------------------------------------------------------------------------

/// One client talks to a server over a reliable connection: connect, messages there and back,
/// disconnect. Sizes: connections (1), messages (4).
[[nodiscard]] Outcome connect(const Trial& trial, const Staging& staging);
/// The same with eight connections at once.
[[nodiscard]] Outcome clients(const Trial& trial, const Staging& staging);
/// A server that begins to listen late and rejects the first request; the client tries again.
[[nodiscard]] Outcome late(const Trial& trial, const Staging& staging);
/// A client that reconnects after each end of its connection until all messages are delivered. When
/// all faults have ended, devices are present again, so the client must succeed.
[[nodiscard]] Outcome reconnect(const Trial& trial, const Staging& staging);
/// A client asks a datagram service where it is (SIDR), and has datagrams echoed.
[[nodiscard]] Outcome datagram(const Trial& trial, const Staging& staging);
/// Three hosts join a group; one sends, all leave.
[[nodiscard]] Outcome multicast(const Trial& trial, const Staging& staging);

}  // namespace anyrdma::sim::scenarios
