// The system's RDMA libraries as this process uses them: loaded once, never unloaded, because
// contexts of theirs may be in use until the process ends.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "transport/ucma/functions.h"
#include "verbs/ibv/functions.h"
#include "verbs/ibv/pass_through.h"

namespace anyrdma::transport::ucma {

/// The functions of both libraries, and the provider made of them.
struct System {
  System(const verbs::ibv::VerbsFunctions& verbs, const CmFunctions& functions)
      : cm(functions), provider(verbs) {}

  const CmFunctions cm;
  verbs::ibv::PassThrough provider;
};

/// Loads the system's RDMA libraries, unless this process has loaded them already. From then on
/// their provider handles the system's contexts. Any thread.
[[nodiscard]] std::variant<System*, verbs::ibv::LoadFault> system_in(
    const verbs::ibv::Directories& directories);

/// Returns why the libraries cannot be loaded; nullopt: they can.
[[nodiscard]] std::optional<verbs::ibv::LoadFault> fault_of(
    const verbs::ibv::Directories& directories);

}  // namespace anyrdma::transport::ucma
