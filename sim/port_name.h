// Names of ports in scenario files and fault plans: a device and the number of its port.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace anyrdma::sim {

/// Splits "mlx5_0/2" into the device's name and the number of its port.
struct PortName {
  explicit PortName(std::string_view name) : device(name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string_view::npos) return;
    const std::string_view digits = name.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size()) number = 0;
    if (number != 0) device = name.substr(0, slash);
  }

  std::string_view device;
  std::uint8_t number = 0;  ///< 0: the name is that of a device alone
};

}  // namespace anyrdma::sim
