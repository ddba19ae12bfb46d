// The configuration of the transport that uses the kernel's connection manager.
#pragma once

#include "verbs/ibv/system_libraries.h"

namespace anyrdma::transport::ucma {

/// The configuration. The transport reads nothing from the environment; its caller does that.
struct UcmaConfig {
  /// The directories of the system's libibverbs.so.1 and librdmacm.so.1. Empty: the usual
  /// directories of distributions.
  verbs::ibv::Directories library_directories;
};

}  // namespace anyrdma::transport::ucma
