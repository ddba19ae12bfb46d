#include "transport/station/watched_carrier.h"

namespace anyrdma::transport::station {

void WatchedCarrier::send(verbs::soft::PacketPtr packet) {
  PacketWatch* const watch = watch_;
  if (watch != nullptr) watch->on_leaving(*packet, below_->is_own(*packet));
  below_->send(std::move(packet));
  if (watch != nullptr) watch->on_passed();
}

void WatchedCarrier::on_packet(verbs::soft::PacketPtr packet) {
  PacketWatch* const watch = watch_;
  if (watch != nullptr) watch->on_arriving(*packet);
  deliver_(std::move(packet));
  if (watch != nullptr) watch->on_passed();
}

}  // namespace anyrdma::transport::station
