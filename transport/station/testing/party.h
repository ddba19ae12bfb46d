// One side of a connection in real time, as an application with the C++ interface sees it.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/station/station.h"

namespace anyrdma::transport::station::testing {

/// A station with one event channel, one id at most that is connected, and one registered buffer.
class Party {
 public:
  explicit Party(std::unique_ptr<Station> station);
  ~Party();
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  /// Listens on 127.0.0.1 (or `address`) and the port.
  void listen(std::uint16_t port, const char* address = "127.0.0.1");
  /// Resolves and connects with a QP; true once established.
  [[nodiscard]] bool connect(std::uint16_t port, const char* address = "127.0.0.1");
  /// Sends the request only, after resolving; `false` if that failed. Only RDMA_PS_TCP has a QP.
  /// Without a `source`, the route decides.
  [[nodiscard]] bool start_connecting(std::uint16_t port, const char* address = "127.0.0.1",
                                      rdma_port_space space = RDMA_PS_TCP,
                                      const char* source = nullptr);
  /// Waits for a request, makes a QP and accepts; true once established.
  [[nodiscard]] bool accept();
  /// The same, but does not wait for ESTABLISHED: the peer is served by the calling thread.
  [[nodiscard]] bool answer();
  /// Waits for a request and keeps it unanswered.
  [[nodiscard]] bool take_request();

  /// The next event's type; -1 if none comes within half a minute. The event is acknowledged.
  [[nodiscard]] int next_event();
  /// Status of the event fetched last.
  [[nodiscard]] int status() const { return status_; }

  void post_recv(std::uint32_t length);
  /// The first `length` bytes of the buffer.
  void post_send(std::uint32_t length);
  /// RDMA write or read of `length` bytes between the buffers' starts.
  void post_rdma(ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t rkey,
                 std::uint32_t length);
  /// Status of the next completion, polling; -1 if none comes within two minutes.
  [[nodiscard]] int next_completion();

  /// Ends the connection's id with its QP.
  void drop();
  [[nodiscard]] cm::Id& id() { return *id_; }
  [[nodiscard]] Station& station() { return *station_; }
  [[nodiscard]] ibv_mr& region() { return *mr_; }
  [[nodiscard]] ibv_cq& cq() { return *id_->raw()->send_cq; }

  std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(1 << 20);

 private:
  [[nodiscard]] bool make_qp();
  [[nodiscard]] bool expect(rdma_cm_event_type type);

  std::unique_ptr<Station> station_;
  std::unique_ptr<cm::EventChannel> channel_;
  std::unique_ptr<cm::Id> listener_;
  std::unique_ptr<cm::Id> id_;
  std::unique_ptr<cm::Id> request_;
  ibv_mr* mr_ = nullptr;
  int status_ = 0;
};

}  // namespace anyrdma::transport::station::testing
