#include "verbs/soft/packet.h"

#include <utility>

namespace anyrdma::verbs::soft {

void PacketReturn::operator()(Packet* packet) const noexcept {
  packet->next_free = packet->pool->free_;
  packet->pool->free_ = packet;
}

PacketPool::~PacketPool() {
  while (free_ != nullptr) delete std::exchange(free_, free_->next_free);
}

PacketPtr PacketPool::take() {
  Packet* packet = free_;
  if (packet == nullptr) {
    packet = new Packet;  // storage stays uninitialised on purpose
    packet->pool = this;
  } else {
    free_ = packet->next_free;
    packet->next_free = nullptr;
    packet->icrc_valid = false;
    packet->hop_limit = 64;
    packet->traffic_class = 0;
    packet->ip_identification = 0;
    packet->ip_fragment = 0x4000;
    packet->size = 0;
  }
  return PacketPtr(packet);
}

}  // namespace anyrdma::verbs::soft
