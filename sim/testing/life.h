// One connection's life between two hosts, whatever the network does to it: what the determinism
// tests run and the benchmark measures.
#pragma once

#include <cstdint>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {

/// Client and server exchange a message each way, unless the connection fails before. Never hangs:
/// each side goes on until an event ends its connection or nothing more can come.
class Life {
 public:
  Life(World& world, Host& client, Host& server);
  /// Starts both fibers; the world must run them to their end before the Life is destroyed.
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

/// A world of two hosts in which packets are lost, doubled, delayed and overtaken as the seed says
/// (every fourth seed: a perfect network). Runs one Life to its end.
struct LifeResult {
  std::uint64_t hash = 0;
  std::uint64_t packets = 0;
  bool at_rest = false;  ///< no fiber was left waiting
  bool established = false;
  Instant end{};
};
[[nodiscard]] LifeResult run_life(std::uint64_t seed, Tracing tracing = Tracing::kHash);

}  // namespace anyrdma::sim::testing
