// Which devices programs find, as the command's options say.
#pragma once

#include <string>

namespace anyrdma::tools {

/// The user's choice of transport and device. Empty members leave the environment variables of
/// docs/dropin.md unchanged.
struct Choice {
  std::string transport;
  std::string fabric;
  std::string link;    ///< "ethernet", "infiniband"
  std::string device;  ///< profile's name or file
  std::string rails;   ///< number of devices
};

/// Sets the variables that the drop-in libraries read. False, and a sentence on stderr that names
/// the cause and the remedy: there is no such transport, or a wrong device.
[[nodiscard]] bool choose(const Choice& choice);

}  // namespace anyrdma::tools
