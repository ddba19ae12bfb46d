// What the tests of the semantics stand on: two hosts, an application on each, both written against
// <rdma/rdma_cma.h>. A test is one script that makes the calls of both sides, one after the other;
// waiting for an event lets virtual time pass.
#pragma once

#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/world.h"

namespace anyrdma::semantics {

using namespace std::chrono_literals;
using sim::Duration;
using sim::Instant;

inline constexpr std::uint16_t kPort = 7471;
inline constexpr int kPatienceMs = 2000;
inline constexpr int kInvalidServiceId = 8;
inline constexpr int kStaleConnection = 10;
inline constexpr int kConsumerDefined = 28;

/// The errno of a call that returned `result`; 0: it succeeded.
[[nodiscard]] inline int error_of(int result) {
  return result == 0 ? 0 : errno;
}

/// An address as the calls take it.
class Address {
 public:
  /// "192.0.2.1", "2001:db8::1".
  explicit Address(const char* ip, std::uint16_t port = kPort);
  operator sockaddr*() { return reinterpret_cast<sockaddr*>(&storage_); }  // NOLINT: an argument

 private:
  sockaddr_storage storage_{};
};

/// Parameters that carry `data`, which outlives them, and a QPN of their own, so that an id needs
/// no QP.
[[nodiscard]] rdma_conn_param parameters(std::string_view data = "",
                                         std::uint8_t responder_resources = 0,
                                         std::uint8_t initiator_depth = 0);
/// `text` followed by zeros up to `size`.
[[nodiscard]] std::vector<std::uint8_t> padded(std::string_view text, std::size_t size);

/// What an event said, kept beyond its acknowledgement.
struct Seen {
  rdma_cm_event_type event{};
  int status = 0;
  rdma_cm_id* id = nullptr;
  rdma_cm_id* listen_id = nullptr;
  rdma_conn_param conn{};  ///< its private data is in `data`
  rdma_ud_param ud{};      ///< of the same union: of datagram and multicast events
  std::vector<std::uint8_t> data;
  Instant when{};
};

/// The application of one host: a channel and the ids on it. What is left at the end it destroys.
class Party {
 public:
  explicit Party(sim::Host& host);
  ~Party();
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  [[nodiscard]] sim::Host& host() const { return host_; }
  [[nodiscard]] rdma_event_channel* channel() const { return channel_; }
  [[nodiscard]] Instant now() const { return host_.world().now(); }
  /// Runs `body` as a program of the host, to its end: for calls that name no object of the host.
  void as_program(std::function<void()> body);

  // --- ids --------------------------------------------------------------------------------------
  [[nodiscard]] rdma_cm_id* make(rdma_port_space space = RDMA_PS_TCP);
  /// An id whose address and route are resolved.
  rdma_cm_id* routed(const char* to, rdma_port_space space = RDMA_PS_TCP,
                     std::uint16_t port = kPort);
  rdma_cm_id* listen(const char* on, int backlog = 8, rdma_port_space space = RDMA_PS_TCP,
                     std::uint16_t port = kPort);
  /// Gives the id a QP with room for four messages each way.
  static void make_qp(rdma_cm_id* id);
  [[nodiscard]] static ibv_qp_attr query_qp(rdma_cm_id* id);
  [[nodiscard]] static ibv_qp_state qp_state(rdma_cm_id* id) { return query_qp(id).qp_state; }
  /// Together with its QP.
  void destroy(rdma_cm_id* id);

  // --- events -----------------------------------------------------------------------------------
  /// The next event, which must be of that type and is acknowledged.
  Seen take(rdma_cm_event_type event);
  /// The same, with that status.
  Seen take(rdma_cm_event_type event, int status);
  /// The new id of a CONNECT_REQUEST, which must be next.
  rdma_cm_id* take_request() { return take(RDMA_CM_EVENT_CONNECT_REQUEST).id; }
  /// The next event, not acknowledged.
  rdma_cm_event* hold();
  /// Lets time pass, in which no event comes.
  void expect_silence(Duration time = 300s);

 private:
  Seen keep(rdma_cm_event* event);

  sim::Host& host_;
  rdma_event_channel* channel_ = nullptr;
  std::vector<rdma_cm_id*> ids_;
};

/// A server with two addresses and a client, and the world they are in.
class Pair {
 public:
  static constexpr const char* kServer = "192.0.2.1";
  static constexpr const char* kServersOther = "192.0.2.3";
  static constexpr const char* kClient = "192.0.2.2";

  explicit Pair(const ibcm::Profile& profile = ibcm::kLinux61);
  explicit Pair(const sim::WorldOptions& options);

  sim::World world;
  sim::Host& server_host = world.add_host("server", {kServer, kServersOther});
  sim::Host& client_host = world.add_host("client", {kClient});
  Party server{server_host};
  Party client{client_host};

  /// A line of a fault plan (docs/sim.md).
  void plan(std::string_view line);
  /// When messages of a kind went on the wire: sent("client", "REQ").
  [[nodiscard]] std::vector<Instant> sent(std::string_view from, std::string_view message);
  void pass(Duration time) { world.run_for(time); }

  /// Both ends of a connection.
  struct Connection {
    rdma_cm_id* active = nullptr;
    rdma_cm_id* passive = nullptr;
  };
  /// The client's request in the hands of the server, not accepted. Both ids have a QP.
  Connection request();
  /// As request, accepted, and the client has its ESTABLISHED; the server's is not fetched.
  Connection half_connect();
  /// An established connection; no event is left to fetch.
  Connection connect();

 private:
  rdma_cm_id* listener_ = nullptr;
};

/// In seconds.
[[nodiscard]] inline double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

/// The fixture: the pair's members are the test's.
class Scenario : public ::testing::Test, protected Pair {};

}  // namespace anyrdma::semantics
