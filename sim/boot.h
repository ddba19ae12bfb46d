// The state of a host that is lost when its power is cut. Used only by the host.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/host.h"
#include "sim/world.h"
#include "verbs/misuse.h"

namespace anyrdma::sim {

/// The kernel state of a host from its start to a crash: the transport, and the network as the
/// transport sees it. After a crash, programs may destroy ids of the old transport at any time.
/// Such ids send no packet.
class Host::Boot final : public transport::soft::Network {
 public:
  explicit Boot(Host& host) : host_(host), ports(host.random_, host.port_options_) {
    transport = transport::soft::SoftTransport::create(host, host.random_, *this, ports,
                                                       {.profile = host.world_.options().profile});
  }
  ~Boot() override {
    if (const std::size_t left = transport->endpoints(); left != 0 && !over) {
      verbs::report_misuse(host_, {"rdma_destroy_id", std::to_string(left) + " of the host's ids",
                                   "never destroyed, and the world ends"});
    }
    kept.clear();  // after the report: this may destroy ids
    transport.reset();
  }

 private:
  Host& host_;

 public:
  transport::soft::LocalPortTable ports;
  std::unique_ptr<transport::soft::SoftTransport> transport;
  std::vector<std::shared_ptr<void>> kept;
  bool over = false;

 private:
  Result<transport::soft::Route> route(const Address* source, const Address& target) override {
    if (over) return verbs::errno_code(ENETUNREACH);
    return host_.interfaces().route(source, target);
  }
  Result<int> interface_of(const Address& local) override {
    if (over) return verbs::errno_code(EADDRNOTAVAIL);
    return host_.interfaces().interface_of(local);
  }
  void resolve_neighbour(transport::soft::NeighbourToken token, const transport::soft::Route& route,
                         std::chrono::milliseconds timeout) override {
    if (!over) host_.neighbours().resolve(token, route, timeout);
  }
  void cancel_neighbour(transport::soft::NeighbourToken token) override {
    if (!over) host_.neighbours().cancel(token);
  }
  bool resolve_path(transport::soft::NeighbourToken token,
                    std::chrono::milliseconds timeout) override {
    return !over && host_.neighbours().resolve_path(token, timeout);
  }
  transport::soft::LinkNumber link_of(int interface) override {
    return host_.interfaces()[static_cast<std::size_t>(interface) - 1].link_number();
  }
  transport::soft::LinkNumber link_of(int interface, const Address& neighbour) override {
    return host_.neighbours().link_of(interface, neighbour);
  }
};

}  // namespace anyrdma::sim
