// The errors of joining a fabric. Each compares equal to the errno value that the C API returns.
// Fabric::explain returns a sentence for each.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <type_traits>

#include "transport/fabric/rendezvous/config.h"

namespace anyrdma::transport::fabric {

enum class FabricErrc {
  kBadName = 1,  ///< EINVAL: the fabric's name has characters a file name cannot have
  kWrongUser,    ///< EPERM: config.uid is not the effective user

  /// ENOENT: there is no directory in which the fabric's own directory can be made.
  kNoDirectory,
  /// EACCES: the fabric's directory or rendezvous file cannot be made or opened.
  kNotWritable,
  /// EPERM: the rendezvous file belongs to another user, is open to others, or is no plain file.
  kNotOurs,
  kOtherVersion,      ///< EPROTO: processes with another version of this software use the fabric
  kNoSpace,           ///< ENOSPC: the directory's file system is full
  kTooManyProcesses,  ///< EAGAIN: the fabric has its largest number of live processes
  kNoSocket,          ///< EACCES: Unix sockets are refused (seccomp, namespace)
  kNoResources,       ///< EMFILE: descriptors, memory or threads have run out

  /// EPERM: other users have taken all names that the fabric's directory could have.
  kNamesTaken,
  kFileLimit,   ///< EFBIG: the limit of file sizes is below the size of the rendezvous file
  kUnsuitable,  ///< EOPNOTSUPP: the file system lacks flock or fallocate
  kBadDevices,  ///< EINVAL: the number of devices is 0 or larger than kRailsMax
};

[[nodiscard]] const boost::system::error_category& fabric_category();
[[nodiscard]] inline boost::system::error_code make_error_code(FabricErrc error) {
  return {static_cast<int>(error), fabric_category()};
}

/// Returns the errno value that a C caller gets for an error of FabricErrc or of the errno
/// category.
[[nodiscard]] int errno_of(const boost::system::error_code& error);

/// Returns one or two sentences for the user: the cause, with the directory concerned, and what to
/// do.
[[nodiscard]] std::string explain(const boost::system::error_code& error,
                                  const FabricConfig& config);

}  // namespace anyrdma::transport::fabric

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::fabric::FabricErrc> : std::true_type {
};
