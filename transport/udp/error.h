// The errors of opening RoCEv2 over UDP. The numbers compare equal to the errno value that the C
// API returns.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <type_traits>

#include "transport/udp/config.h"

namespace anyrdma::transport::udp {

enum class UdpErrc {
  kBadAddress = 1,  ///< EINVAL: an entry of config.addresses is no IPv4 or IPv6 address
  kNoAddress,       ///< ENODEV: nothing configured, and no interface that is up has an address
  kNotLocal,        ///< EADDRNOTAVAIL: no interface that is up has a configured address
  kPortTaken,       ///< EADDRINUSE: by another process, or by the kernel's Soft-RoCE
  kNoNamespace,     ///< ENOENT: config.network_namespace is not there, or is no network namespace
  kNotPermitted,    ///< EPERM: that namespace may not be entered
  kNoSocket,        ///< EACCES: UDP sockets are refused (seccomp, port below 1024)
  kNoResources,     ///< EMFILE: descriptors, memory or threads have run out
};

[[nodiscard]] const boost::system::error_category& udp_category();
[[nodiscard]] inline boost::system::error_code make_error_code(UdpErrc error) {
  return {static_cast<int>(error), udp_category()};
}

/// One or two sentences for a human: the cause, naming what is concerned, and the remedy.
[[nodiscard]] std::string explain(const boost::system::error_code& error, const UdpConfig& config);

}  // namespace anyrdma::transport::udp

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::udp::UdpErrc> : std::true_type {};
