// Connection requests that found no room with their listener.
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
  /// Less than a sender's patience: it repeats after 4.6 s at the earliest.
  static constexpr std::chrono::seconds kPatience{4};

  /// One that waits.
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
  /// One that was taken and found no room again.
  void put_back(const Request& request) { requests_.push_front(request); }
  /// That device, or the peers whose comm ids have that tag are gone (ibcm::Agent::on_peer_gone).
  void forget(const Device& device);
  void forget(std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
              std::span<const ibcm::Gid> gids);

 private:
  std::size_t size_;
  std::deque<Request> requests_;
};

}  // namespace anyrdma::transport::soft
