// The network that the processes of a simulated host see: the loopback interface, and the host's
// interfaces with their addresses, from which no packet leaves. Source: network_namespaces(7),
// rtnetlink(7).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/soft/prefix.h"

namespace anyrdma::sim::tracee {

/// One interface.
struct InterfaceOptions {
  std::string name;
  std::array<std::uint8_t, 6> mac{};  ///< its link address
  std::vector<transport::soft::Prefix> addresses;
};

/// Configures a network namespace. The constructor builds the netlink messages, so that set_up()
/// allocates no memory and may be called after fork.
class Network {
 public:
  enum class Made : std::uint8_t {
    kNothing,     ///< the system's network is seen
    kOnLoopback,  ///< loopback has the addresses: the kernel has no suitable interfaces
    kInterfaces,
  };

  explicit Network(const std::vector<InterfaceOptions>& interfaces);

  /// Creates the interfaces and sets their addresses in the network namespace of the calling
  /// process, which must be new. Safe after fork. Returns what the processes will see.
  [[nodiscard]] Made set_up();

 private:
  using Message = std::vector<std::byte>;
  struct Interface {
    std::string name;
    /// kinds of interfaces, in order: the first kind that the kernel supports is created
    std::vector<Message> kinds;
    std::vector<Message> settings;
    std::vector<Message> addresses;
  };
  /// Returns whether the interface was created.
  static bool set_up(int socket, Interface& interface);

  Message loopback_up_;
  std::vector<Interface> interfaces_;
};

/// Adds an address to an interface of the calling process's network namespace, or removes it. As
/// the constructor above, loopback stands for an interface that was not created. Returns false if
/// the kernel refuses.
[[nodiscard]] bool change_address(const std::string& interface,
                                  const transport::soft::Prefix& prefix, bool added);

}  // namespace anyrdma::sim::tracee
