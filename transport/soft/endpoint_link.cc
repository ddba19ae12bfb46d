// Link addresses that change. An endpoint goes on with those it knows from when it was bound or
// resolved its address; all it is told is that they are no longer right.
#include <cerrno>

#include "transport/soft/endpoint.h"

namespace anyrdma::transport::soft {

// Kernel: rdma_copy_src_l2_addr.
void SoftEndpoint::note_own_link() {
  own_link_ = core_.network.link_of(device_->interface);
}

// Kernel: cma_netdev_change. Linux binds loopback ids to no interface, so they hear nothing.
void SoftEndpoint::on_link_changed() {
  if (!own_link_ || *own_link_ == core_.network.link_of(device_->interface)) return;
  queue(RDMA_CM_EVENT_ADDR_CHANGE);
}

// Kernel: cma_netevent_callback.
void SoftEndpoint::on_neighbour_changed(const Address& neighbour) {
  if (!routed_to(neighbour)) return;
  if (peer_link_ == core_.network.link_of(device_->interface, neighbour)) return;
  queue(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

// Kernel: cma_add_id_to_tree, in rdma_resolve_route.
bool SoftEndpoint::routed_to(const Address& neighbour) const {
  if (!active_ || core_.means_self(destination_)) return false;
  return path_record_.has_value() && destination_.same_ip(neighbour);
}

}  // namespace anyrdma::transport::soft
