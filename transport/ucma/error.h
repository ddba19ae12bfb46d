// The errors of opening the kernel's connection manager. Each compares equal to the errno value
// that the C API returns. explain() returns a sentence for each.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <type_traits>

#include "transport/ucma/config.h"

namespace anyrdma::transport::ucma {

enum class UcmaErrc {
  kNoLibrary = 1,  ///< ENODEV: the system's libibverbs or librdmacm is missing or does not load
  kTooOld,         ///< ENOSYS: the system's libibverbs or librdmacm lacks a function
  kNoDevice,       ///< ENODEV: the system has no RDMA device
  kNoModule,       ///< ENODEV: the connection manager's or the device's special file is missing
  kNoPermission,   ///< EACCES: a special file may not be opened
  kOtherAbi,       ///< EPROTO: the library does not support the kernel's version of the interface
  kNoResources,    ///< EMFILE: descriptors, memory or threads have run out
};

[[nodiscard]] const boost::system::error_category& ucma_category();
[[nodiscard]] inline boost::system::error_code make_error_code(UcmaErrc error) {
  return {static_cast<int>(error), ucma_category()};
}

/// Returns the errno value that a C caller gets for a UcmaErrc, or for an error of the errno
/// category.
[[nodiscard]] int errno_of(const boost::system::error_code& error);

/// Returns one or two sentences for the user: the cause, and what to do. For libraries that cannot
/// be used, it looks at the libraries again.
[[nodiscard]] std::string explain(const boost::system::error_code& error, const UcmaConfig& config);

}  // namespace anyrdma::transport::ucma

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::ucma::UcmaErrc> : std::true_type {};
