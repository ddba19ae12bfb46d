// `anyrdma devinfo`: what the devices that programs would find say of themselves.
#pragma once

#include <string>

#include "tools/exit.h"

namespace anyrdma::tools {

struct DevinfoOptions {
  std::string transport;  ///< empty: ANYRDMA_TRANSPORT, else "fabric"
  std::string fabric;     ///< empty: ANYRDMA_FABRIC, else "default"
  std::string link;       ///< empty: ANYRDMA_LINK_LAYER, else "ethernet"
};

/// Prints what ibv_devinfo -v would, run on the drop-in. On failure a sentence on stderr names the
/// cause and the remedy.
[[nodiscard]] Exit devinfo(const DevinfoOptions& options);

}  // namespace anyrdma::tools
