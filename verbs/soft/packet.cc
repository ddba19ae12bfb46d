#include "verbs/soft/packet.h"

#include <cstring>
#include <utility>

namespace anyrdma::verbs::soft {

void Packet::keep_payload() {
  if (lent == nullptr) return;
  std::memcpy(storage.data() + lent_at, lent, lent_size);
  forget_lent();
}

PacketPool::~PacketPool() {
  while (free_ != nullptr) delete std::exchange(free_, free_->next_free);
}

PacketPtr PacketPool::make() {
  auto* packet = new Packet;  // storage stays uninitialised on purpose
  packet->pool = this;
  return PacketPtr(packet);
}

PacketPtr PacketPool::copy_of(const Packet& packet) {
  PacketPtr copy = take();
  copy->source = packet.source;
  copy->destination = packet.destination;
  copy->udp_source_port = packet.udp_source_port;
  copy->traffic_class = packet.traffic_class;
  copy->hop_limit = packet.hop_limit;
  copy->ip_protocol = packet.ip_protocol;
  copy->port = packet.port;
  copy->ip_identification = packet.ip_identification;
  copy->ip_fragment = packet.ip_fragment;
  copy->ip_fields_hidden = packet.ip_fields_hidden;
  copy->icrc_valid = packet.icrc_valid;
  copy->size = packet.size;
  std::memcpy(copy->storage.data(), packet.storage.data(), packet.size);
  if (packet.lent != nullptr) {
    std::memcpy(copy->storage.data() + packet.lent_at, packet.lent, packet.lent_size);
  }
  return copy;
}

}  // namespace anyrdma::verbs::soft
