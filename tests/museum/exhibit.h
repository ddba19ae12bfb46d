// What the exhibits of the museum stand on. An exhibit is a small application with a bug that was
// reported in public, on two simulated hosts; the test shows the bug happening, and often the
// mended application beside it. In front of each test stand the number of its entry in the
// collection, what happened to whom, and the addresses of the reports:
//
//   // Exhibit 14: after ESTABLISHED came UNREACHABLE, which nobody had expected.
//   // https://github.com/ofiwg/libfabric/issues/12362
//   TEST_F(Ordering, UnreachableComesAfterEstablished) {
//
// docs/museum.md is written from these lines, and page_test holds them against it. What the
// simulator cannot show has a "Not shown 11:" with the reason instead, outside of all tests.
//
// Linking this is enough for a last line that tells which exhibit took longest. Exhibits that are
// scripts of C calls rather than programs stand on tests/semantics/scenario.h.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sim/testing/program.h"
#include "sim/world.h"

namespace anyrdma::museum {

using namespace std::chrono_literals;
using sim::testing::kPatience;
using sim::testing::kPort;
using sim::testing::parameters;
using sim::testing::Pipe;
using sim::testing::Program;
using sim::testing::Seen;

/// Two hosts, and a channel on each for programs in C++. C programs make their own.
class Exhibit : public ::testing::Test {
 protected:
  static constexpr const char* kServerIp = "192.0.2.1";
  static constexpr const char* kClientIp = "192.0.2.2";

  explicit Exhibit(const sim::WorldOptions& options = {}) : world(1, options) {}
  /// Programs that still wait end first: they use what the exhibit has.
  ~Exhibit() override { close(); }

  sim::World world;
  sim::Host& server_host = world.add_host("server", {kServerIp});
  sim::Host& client_host = world.add_host("client", {kClientIp});
  Program server{server_host};
  Program client{client_host};

  /// Lines of a fault plan (docs/sim.md).
  void plan(std::string_view lines);
  /// Starts the server's program, which may wait for ever, or the client's, which must end.
  void serve(std::function<void()> body);
  void ask(std::function<void()> body);
  /// Lets everything happen; nobody hangs.
  void run();
  /// Lets everything happen, after which somebody hangs: who waits for what. Then their waits fail
  /// and the programs end.
  [[nodiscard]] std::string run_into_hang();
  /// One side of a connection.
  struct Connection {
    std::unique_ptr<cm::Id> id;
    std::unique_ptr<Pipe> pipe;  ///< destroyed before its id
  };
  /// The server's: accepts the next request, with a receive of 64 bytes posted. The event of the
  /// handshake's end, normally ESTABLISHED, is left to fetch.
  [[nodiscard]] Connection accept();
  /// Starts a server that accepts whoever comes, with eight receives each, and parts from whoever
  /// leaves.
  void serve_everybody();
  /// The client's: connects, and expects ESTABLISHED.
  [[nodiscard]] Connection connect();

 private:
  void close();
};

}  // namespace anyrdma::museum
