// The configuration of the transport that uses the kernel's connection manager.
#pragma once

#include "verbs/ibv/system_libraries.h"

namespace anyrdma::transport::ucma {

/// Nothing here is read from the environment; the caller does that.
struct UcmaConfig {
  /// Where the system's libibverbs.so.1 and librdmacm.so.1 are; empty: where distributions have
  /// them.
  verbs::ibv::Directories library_directories;
};

}  // namespace anyrdma::transport::ucma
