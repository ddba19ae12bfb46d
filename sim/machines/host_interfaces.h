// Parses the interfaces of a simulated host, as scenario files and the option --host name them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/options.h"
#include "verbs/why_not.h"

namespace anyrdma::sim {

/// The largest number of interfaces of a host whose programs are processes.
inline constexpr std::size_t kInterfacesMax = 16;

/// Returns the interfaces of a host. A word is ADDRESS or WHICH=ADDRESS. WHICH begins a new
/// interface: NAME, NAME/DEVICE, NAME/DEVICE/PORT or DEVICE/PORT. NAME is the name of the
/// interface, DEVICE that of its RDMA device, and PORT the number of the device's port. The ports
/// of a device follow each other, from 1. An address without a name belongs to the interface before
/// it. Words without any name are the addresses of one interface. The sentence of an error follows
/// the word "host" and the name of the host in messages.
[[nodiscard]] verbs::OrWhyNot<std::vector<InterfaceOptions>> parse_interfaces(
    std::span<const std::string> words);

/// Returns the name of the interface number `index`, and of its RDMA device.
[[nodiscard]] std::string interface_name(const InterfaceOptions& interface, std::size_t index);
[[nodiscard]] std::string rdma_name(const InterfaceOptions& interface, std::size_t index);
/// Returns the name of the port that the interface carries, as fault plans have it: "mlx5_0/2", or
/// the device's name for port 1.
[[nodiscard]] std::string port_name(const InterfaceOptions& interface, std::size_t index);

}  // namespace anyrdma::sim
