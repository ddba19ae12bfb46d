// Connection requests that wait because their listener's backlog is full.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "transport/ibcm/agent.h"
#include "transport/soft/core.h"

namespace anyrdma::transport::soft {

/// Requests in the order of arrival. A burst that is longer than the backlog loses requests only
/// when the listener drops them, which costs their senders seconds.
class WaitingRoom {
 public:
  /// How long a request waits. Less than its sender's first timeout, which is at least 4.6 s.
  static constexpr std::chrono::seconds kPatience{4};

  /// A waiting request.
  struct Request {
    Device* device;
    ibcm::Path path;
    Instant until;
    std::array<std::uint8_t, ibcm::kMadBytes> mad{};
  };

  explicit WaitingRoom(std::size_t size) : size_(size) {}

  [[nodiscard]] bool empty() const { return requests_.empty(); }
  /// Queues a request; dropped if the queue is full.
  void add(const Request& request, std::span<const std::uint8_t, ibcm::kMadBytes> mad);
  /// Removes and returns the first request whose time is not over.
  [[nodiscard]] std::optional<Request> take(Instant now);
  /// Returns a request to the front of the queue, after its listener had no room again.
  void put_back(const Request& request) { requests_.push_front(request); }
  /// Drops the requests that came through this device, or from peers whose comm ids have this tag
  /// (ibcm::Agent::on_peer_gone).
  void forget(const Device& device);
  void forget(std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
              std::span<const ibcm::Gid> gids);

 private:
  std::size_t size_;
  std::deque<Request> requests_;
};

}  // namespace anyrdma::transport::soft
