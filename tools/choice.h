// Which devices programs find, as the command's options say.
#pragma once

#include <string>

namespace anyrdma::tools {

/// Each empty: the variable of the environment stays as it is, see docs/dropin.md.
struct Choice {
  std::string transport;
  std::string fabric;
  std::string link;    ///< "ethernet", "infiniband"
  std::string device;  ///< profile's name or file
};

/// Sets the variables that the drop-in libraries read. False, and a sentence on stderr that names
/// the cause and the remedy: there is no such transport, or a wrong device.
[[nodiscard]] bool choose(const Choice& choice);

}  // namespace anyrdma::tools
