// A client and a server in a world with faults, for tests of the connection manager. Their
// connections have no queue pairs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {

class FaultedPair : public ::testing::Test {
 protected:
  /// Both ends, once they are established.
  struct Connection {
    std::unique_ptr<cm::Id> active;
    std::unique_ptr<cm::Id> passive;
  };

  void inject(std::string_view plan);
  /// Requests a connection, and gives `qpn` as the number of its queue pair.
  static void connect(cm::Id& id, std::uint32_t qpn);
  std::unique_ptr<cm::Id> ask();
  std::unique_ptr<cm::Id> ask(Program& program, std::uint32_t qpn);
  /// Waits for the next connection request, and returns the server's id for it.
  std::unique_ptr<cm::Id> accept();
  Connection connect() { return finish(client, ask()); }
  /// The server accepts what `program` has asked for.
  Connection finish(Program& program, std::unique_ptr<cm::Id> active);
  /// Seconds since the beginning.
  [[nodiscard]] double now() const;

  std::uint32_t next_qpn = 0x100;
  World world{1};
  Host& client_host = world.add_host("client", {"10.0.0.1"});
  Host& server_host = world.add_host("server", {"10.0.0.2"});
  Program client{client_host};
  Program server{server_host};
  std::unique_ptr<cm::Id> listener = server.listen(server_host.address(kPort));
};

}  // namespace anyrdma::sim::testing
