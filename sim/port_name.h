// Names of ports in scenario files and fault plans: a device and the number of its port.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/number.h"

namespace anyrdma::sim {

/// Splits "mlx5_0/2" into the device's name and the number of its port.
struct PortName {
  explicit PortName(std::string_view name) : device(name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string_view::npos) return;
    number = whole_number<std::uint8_t>(name.substr(slash + 1)).value_or(0);
    if (number != 0) device = name.substr(0, slash);
  }

  std::string_view device;
  std::uint8_t number = 0;  ///< 0: the name is that of a device alone
};

}  // namespace anyrdma::sim
