// The addresses of the rails of a process: of the ports of its RDMA devices.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <optional>

namespace anyrdma::transport::fabric {

/// The addresses of a process's rails. Call all functions inside the critical section
/// (verbs::Runtime::enter).
class RailAddresses {
 public:
  RailAddresses() = default;
  RailAddresses(const RailAddresses&) = delete;
  RailAddresses& operator=(const RailAddresses&) = delete;
  virtual ~RailAddresses() = default;

  /// Returns the number of rails, at least 1. They are numbered from 0.
  [[nodiscard]] virtual std::size_t rails() const = 0;
  /// Returns the number of the rail that has the address of a GID. Nothing: none has it.
  [[nodiscard]] virtual std::optional<std::size_t> rail_of(const ibv_gid& gid) const = 0;
};

}  // namespace anyrdma::transport::fabric
