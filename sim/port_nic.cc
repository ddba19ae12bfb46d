#include "sim/port_nic.h"

namespace anyrdma::sim {

PortNic::PortNic(Host& host, std::size_t interface, std::uint8_t port, OwnNic& first)
    : Nic(host, interface), port_(port), first_(first) {
  first_.carry_port(port, interface);
}

}  // namespace anyrdma::sim
