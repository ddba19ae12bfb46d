// The network that a realm's processes see: loopback, and one interface with a host's addresses,
// which leads nowhere. Source: network_namespaces(7), rtnetlink(7).
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

/// Requests to the kernel, which are put together before, so that carrying them out takes no
/// memory.
class Network {
 public:
  enum class Made : std::uint8_t {
    kNothing,     ///< the system's network is seen
    kOnLoopback,  ///< the kernel has no kind of interface for it: the addresses are loopback's
    kInterface,
  };

  explicit Network(const NetworkOptions& options);

  /// In the network namespace of this process, which is new. Safe after fork.
  [[nodiscard]] Made set_up();

 private:
  using Message = std::vector<std::byte>;

  std::string name_;
  Message loopback_up_;
  std::vector<Message> kinds_;  ///< of interfaces: the first one that the kernel knows is made
  std::vector<Message> settings_;
  std::vector<Message> addresses_;
};

}  // namespace anyrdma::sim::tracee
