// Keeps connection requests that wait because their listener's backlog is full.
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

/// A queue of requests in the order of arrival. Requests of a burst that is longer than a
/// listener's backlog wait here. Without the queue they would be lost, which costs their senders
/// seconds.
class WaitingRoom {
 public:
  /// How long a request waits, at most. It is less than the sender's first timeout, which is at
  /// least 4.6 s.
  static constexpr std::chrono::seconds kPatience{4};

  /// A connection request that waits for room in its listener's backlog.
  struct Request {
    Device* device;
    ibcm::Path path;
    Instant until;
    std::array<std::uint8_t, ibcm::kMadBytes> mad{};
  };

  explicit WaitingRoom(std::size_t size) : size_(size) {}

  [[nodiscard]] bool empty() const { return requests_.empty(); }
  /// Adds a request to the queue. If the queue is full, the request is dropped.
  void add(const Request& request, std::span<const std::uint8_t, ibcm::kMadBytes> mad);
  /// Removes and returns the first request that has not waited for too long.
  [[nodiscard]] std::optional<Request> take(Instant now);
  /// Puts a request back to the front of the queue, after its listener had no room again.
  void put_back(const Request& request) { requests_.push_front(request); }
  /// Drops the requests that came through `device`. The next overload drops the requests of peers
  /// whose comm ids have the given tag (ibcm::Agent::on_peer_gone).
  void forget(const Device& device);
  void forget(std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
              std::span<const ibcm::Gid> gids);

 private:
  std::size_t size_;
  std::deque<Request> requests_;
};

}  // namespace anyrdma::transport::soft
