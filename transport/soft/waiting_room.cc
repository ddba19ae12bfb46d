#include "transport/soft/waiting_room.h"

#include <algorithm>

#include "transport/ibcm/wire/req.h"

namespace anyrdma::transport::soft {

void WaitingRoom::add(const Request& request, std::span<const std::uint8_t, ibcm::kMadBytes> mad) {
  if (requests_.size() >= size_) return;
  std::ranges::copy(mad, requests_.emplace_back(request).mad.begin());
}

std::optional<WaitingRoom::Request> WaitingRoom::take(Instant now) {
  while (!requests_.empty()) {
    const Request first = requests_.front();
    requests_.pop_front();
    if (now < first.until) return first;
  }
  return std::nullopt;
}

void WaitingRoom::forget(const Device& device) {
  std::erase_if(requests_, [&device](const Request& each) { return each.device == &device; });
}

void WaitingRoom::forget(std::uint32_t peer_id_tag, std::uint32_t peer_id_tag_mask,
                         std::span<const ibcm::Gid> gids) {
  std::erase_if(requests_, [=](const Request& each) {
    if (!gids.empty() && std::ranges::find(gids, each.path.destination) == gids.end()) return false;
    const auto req = ibcm::wire::Req::parse(each.mad);  // a datagram service's peer asks again
    return !req || (value(req->local_comm_id) & peer_id_tag_mask) == peer_id_tag;
  });
}

}  // namespace anyrdma::transport::soft
