// The errors of opening the transport that uses RoCEv2 over UDP. Each compares equal to the errno
// value that the C API returns.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <type_traits>

#include "transport/udp/config.h"

namespace anyrdma::transport::udp {

enum class UdpErrc {
  kBadAddress = 1,  ///< EINVAL: an entry is no IP address, or belongs to two devices
  kNoAddress,       ///< ENODEV: no address is configured, and no interface that is up has one
  kNotLocal,        ///< EADDRNOTAVAIL: no interface that is up has a configured address
  kPortTaken,       ///< EADDRINUSE: another process, or the kernel's Soft-RoCE, uses the port
  kNoNamespace,     ///< ENOENT: config.network_namespace does not exist, or is no network namespace
  kNotPermitted,    ///< EPERM: this process may not enter the network namespace
  kNoSocket,        ///< EACCES: UDP sockets are refused (seccomp, port below 1024)
  kTooManyDevices,  ///< EINVAL: config.devices has more than kDevicesMax entries
  kNoResources,     ///< EMFILE: descriptors, memory or threads have run out
};

[[nodiscard]] const boost::system::error_category& udp_category();
[[nodiscard]] inline boost::system::error_code make_error_code(UdpErrc error) {
  return {static_cast<int>(error), udp_category()};
}

/// Returns one or two sentences for the user: the cause, with the address, port or path concerned,
/// and what to do.
[[nodiscard]] std::string explain(const boost::system::error_code& error, const UdpConfig& config);

}  // namespace anyrdma::transport::udp

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::udp::UdpErrc> : std::true_type {};
