// The network that the processes of a simulated host see: the loopback interface, and one interface
// with the host's addresses, from which no packet leaves. Source: network_namespaces(7),
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

struct NetworkOptions {
  std::string interface;              ///< what it is called
  std::array<std::uint8_t, 6> mac{};  ///< its link address
  std::vector<transport::soft::Prefix> addresses;
};

/// Configures a network namespace. The constructor builds the netlink messages, so that set_up()
/// allocates no memory and may be called after fork.
class Network {
 public:
  enum class Made : std::uint8_t {
    kNothing,     ///< the system's network is seen
    kOnLoopback,  ///< loopback has the addresses: the kernel has no suitable interface
    kInterface,
  };

  explicit Network(const NetworkOptions& options);

  /// Creates the interface and sets its addresses in the network namespace of the calling process,
  /// which must be new. Safe after fork. Returns what the processes will see.
  [[nodiscard]] Made set_up();

 private:
  using Message = std::vector<std::byte>;

  std::string name_;
  Message loopback_up_;
  /// kinds of interfaces, in order: the first kind that the kernel supports is created
  std::vector<Message> kinds_;
  std::vector<Message> settings_;
  std::vector<Message> addresses_;
};

}  // namespace anyrdma::sim::tracee
