// A client and a server with one connection on a perfect network, from address resolution to the
// end of the CM's timewait, with data in both directions: SEND, RDMA WRITE and RDMA READ.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {

/// The programs of a client and a server. The constructor adds the hosts "client" (192.0.2.1) and
/// "server" (192.0.2.2) to a world.
class CleanRun {
 public:
  explicit CleanRun(World& world);
  /// Starts both fibers; the world must run them to their end.
  void start();
  /// Ends the listener, the last id.
  void end() { listener_.reset(); }

  [[nodiscard]] const Program& client() const { return client_; }
  [[nodiscard]] const Program& server() const { return server_; }
  [[nodiscard]] std::uint32_t client_qpn() const { return client_qpn_; }
  [[nodiscard]] std::uint32_t server_qpn() const { return server_qpn_; }
  [[nodiscard]] const std::string& received_by_server() const { return received_by_server_; }
  [[nodiscard]] const std::string& received_by_client() const { return received_by_client_; }
  [[nodiscard]] const std::string& written() const { return written_; }
  [[nodiscard]] const std::string& read() const { return read_; }

 private:
  void run_server();
  void run_client();
  void serve(cm::Id& id, Pipe& pipe);
  void use(Pipe& pipe);

  Program client_;
  Program server_;
  std::unique_ptr<cm::Id> listener_;
  std::uint32_t client_qpn_ = 0;
  std::uint32_t server_qpn_ = 0;
  std::uint64_t server_address_ = 0;
  std::uint32_t server_key_ = 0;
  std::string received_by_server_;
  std::string received_by_client_;
  std::string written_;
  std::string read_;
};

}  // namespace anyrdma::sim::testing
