#include "verbs/soft/packet.h"

#include <cstring>
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
    packet->ip_fields_hidden = false;
    packet->hop_limit = 64;
    packet->traffic_class = 0;
    packet->ip_identification = 0;
    packet->ip_fragment = 0x4000;
    packet->size = 0;
  }
  return PacketPtr(packet);
}

PacketPtr PacketPool::copy_of(const Packet& packet) {
  PacketPtr copy = take();
  copy->source = packet.source;
  copy->destination = packet.destination;
  copy->udp_source_port = packet.udp_source_port;
  copy->traffic_class = packet.traffic_class;
  copy->hop_limit = packet.hop_limit;
  copy->ip_identification = packet.ip_identification;
  copy->ip_fragment = packet.ip_fragment;
  copy->ip_fields_hidden = packet.ip_fields_hidden;
  copy->icrc_valid = packet.icrc_valid;
  copy->size = packet.size;
  std::memcpy(copy->storage.data(), packet.storage.data(), packet.size);
  return copy;
}

}  // namespace anyrdma::verbs::soft
