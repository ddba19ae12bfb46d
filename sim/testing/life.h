// One connection between two hosts, from its establishment to its end, on any network. Determinism
// tests and a benchmark run it.
#pragma once

#include <cstdint>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {

/// A client and a server that exchange one message in each direction, unless the connection fails
/// before. Neither side hangs: each side continues until an event ends its connection or no event
/// can come any more.
class Life {
 public:
  Life(World& world, Host& client, Host& server);
  /// Starts the fibers of client and server. The world must run them to their ends before this
  /// object is destroyed.
  void start();

  [[nodiscard]] const Program& client() const { return client_; }
  [[nodiscard]] const Program& server() const { return server_; }
  [[nodiscard]] bool established() const { return established_; }
  [[nodiscard]] int completions() const { return completions_; }

 private:
  void run_client();
  void run_server();
  void serve(cm::Id& id);
  /// Sends and receives one message. False: a work request failed.
  [[nodiscard]] bool exchange(Pipe& pipe);
  /// Takes events until one says that the connection is over.
  static void await_end(Program& program);

  Program client_;
  Program server_;
  bool established_ = false;
  int completions_ = 0;
};

/// The result of run_life(), which runs one Life (client and server with one connection) to its end
/// in a world with two hosts. The links lose, duplicate, delay and reorder packets as the seed
/// decides. With every fourth seed, the network is perfect.
struct LifeResult {
  std::uint64_t hash = 0;
  std::uint64_t packets = 0;
  bool at_rest = false;  ///< no fiber was left waiting
  bool established = false;
  Instant end{};
};
[[nodiscard]] LifeResult run_life(std::uint64_t seed, Tracing tracing = Tracing::kHash);

}  // namespace anyrdma::sim::testing
