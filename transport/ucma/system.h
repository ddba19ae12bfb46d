// The system's RDMA libraries, which a process loads once and never unloads. Contexts of the
// libraries may be in use until the process ends.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "transport/ucma/functions.h"
#include "verbs/ibv/functions.h"
#include "verbs/ibv/pass_through.h"

namespace anyrdma::transport::ucma {

/// The functions of libibverbs and librdmacm, and the provider that uses them.
struct System {
  System(const verbs::ibv::VerbsFunctions& verbs, const CmFunctions& functions)
      : cm(functions), provider(verbs) {}

  const CmFunctions cm;
  verbs::ibv::PassThrough provider;
};

/// Loads the system's RDMA libraries, unless this process has loaded them already. From then on,
/// their provider handles the contexts of these libraries. Any thread.
[[nodiscard]] std::variant<System*, verbs::ibv::LoadFault> system_in(
    const verbs::ibv::Directories& directories);

/// Returns the reason why the libraries cannot be loaded; nullopt: they can be loaded.
[[nodiscard]] std::optional<verbs::ibv::LoadFault> fault_of(
    const verbs::ibv::Directories& directories);

}  // namespace anyrdma::transport::ucma
