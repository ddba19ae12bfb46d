// Building blocks for programs in simulated tests: an event channel, a log of fetched events, and
// the steps of a connection.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/host.h"
#include "sim/world.h"
#include "verbs/memory.h"

namespace anyrdma::sim::testing {

inline constexpr std::uint16_t kPort = 7471;
inline constexpr std::chrono::milliseconds kPatience{2000};

/// A copy of an event, valid after its acknowledgement.
struct Seen {
  std::uint64_t id = 0;
  std::uint64_t listener = 0;
  rdma_cm_event_type type{};
  int status = 0;
  rdma_conn_param conn{};  ///< its pointer is null
  std::vector<std::uint8_t> data{};
  Instant when{};
};

[[nodiscard]] std::vector<rdma_cm_event_type> types_of(const std::vector<Seen>& events);
/// Returns `text` followed by zeros, `size` bytes in all.
[[nodiscard]] std::vector<std::uint8_t> padded(std::string_view text, std::size_t size);

/// One application of one host.
class Program {
 public:
  explicit Program(Host& host);

  [[nodiscard]] Host& host() const { return host_; }
  [[nodiscard]] cm::EventChannel& channel() { return *channel_; }
  [[nodiscard]] std::unique_ptr<cm::Id> make_id();
  [[nodiscard]] std::unique_ptr<cm::Id> listen(const Address& local, int backlog = 8);
  /// Creates an id and resolves address and route to `peer`.
  [[nodiscard]] std::unique_ptr<cm::Id> resolve(const Address& peer);
  /// Waits for the next event, logs it and returns it. nullopt: no event can come any more.
  [[nodiscard]] std::optional<cm::Event> next();
  /// Waits for the next event, logs it and acknowledges it. The test fails if the event has another
  /// type than `type`.
  Seen expect(rdma_cm_event_type type);
  /// As expect, for CONNECT_REQUEST.
  [[nodiscard]] std::unique_ptr<cm::Id> expect_request();
  /// Fetches all events that are queued, without waiting.
  void take_all();

  std::vector<Seen> seen;

 private:
  void log(const cm::Event& event);

  Host& host_;
  std::unique_ptr<cm::EventChannel> channel_;
};

/// The queue pair of a connected id, with one registered buffer for all its messages.
class Pipe {
 public:
  static constexpr std::size_t kBytes = 4096;

  /// Makes the id's QP.
  explicit Pipe(cm::Id& id);
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] std::array<std::uint8_t, kBytes>& buffer() { return buffer_; }
  [[nodiscard]] std::uint32_t rkey() const { return memory_.get()->rkey; }
  [[nodiscard]] std::uint64_t address() const {
    return reinterpret_cast<std::uint64_t>(buffer_.data());
  }
  void post_receive(std::uint64_t wr_id, std::size_t at, std::uint32_t length);
  void post(ibv_wr_opcode opcode, std::uint64_t wr_id, std::size_t at, std::uint32_t length,
            std::uint64_t remote_address = 0, std::uint32_t remote_key = 0);
  /// Polls until there is a completion.
  [[nodiscard]] ibv_wc wait(ibv_cq* cq);
  [[nodiscard]] ibv_wc wait_sent() { return wait(id_.qp()->send_cq); }
  [[nodiscard]] ibv_wc wait_received() { return wait(id_.qp()->recv_cq); }

 private:
  cm::Id& id_;
  std::array<std::uint8_t, kBytes> buffer_{};
  verbs::MemoryRegion memory_;
};

/// Returns connection parameters with private data; `data` must outlive their use.
[[nodiscard]] rdma_conn_param parameters(std::string_view data,
                                         std::uint8_t responder_resources = 1,
                                         std::uint8_t initiator_depth = 1);

}  // namespace anyrdma::sim::testing
