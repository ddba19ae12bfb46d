// `anyrdma devinfo`: what the devices that programs would find say of themselves.
#pragma once

#include "tools/choice.h"
#include "tools/exit.h"

namespace anyrdma::tools {

/// Prints what ibv_devinfo -v would, run on the drop-in. On failure a sentence on stderr names the
/// cause and the remedy.
[[nodiscard]] Exit devinfo(const Choice& choice);

}  // namespace anyrdma::tools
