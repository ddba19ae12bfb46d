// The errors of joining a fabric. The numbers compare equal to the errno value that the C API
// returns; Fabric::explain returns a sentence for each.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <type_traits>

#include "transport/fabric/rendezvous/config.h"

namespace anyrdma::transport::fabric {

enum class FabricErrc {
  kBadName = 1,       ///< EINVAL: the fabric's name has characters a file name cannot have
  kWrongUser,         ///< EPERM: config.uid is not the effective user
  kNoDirectory,       ///< ENOENT: there is no directory to make the place for the rendezvous in
  kNotWritable,       ///< EACCES: the place or the registry cannot be made or opened there
  kNotOurs,           ///< EPERM: the registry is another user's, open to others, or no plain file
  kOtherVersion,      ///< EPROTO: processes of another version of this software are using it
  kNoSpace,           ///< ENOSPC: the directory's file system is full
  kTooManyProcesses,  ///< EAGAIN: every slot is taken by a live process
  kNoSocket,          ///< EACCES: Unix sockets are refused (seccomp, namespace)
  kNoResources,       ///< EMFILE: descriptors, memory or threads have run out
  kNamesTaken,        ///< EPERM: strangers have all the names that the place could have
  kFileLimit,         ///< EFBIG: the limit of file sizes is below the registry's
  kUnsuitable,        ///< EOPNOTSUPP: the file system lacks flock or fallocate
};

[[nodiscard]] const boost::system::error_category& fabric_category();
[[nodiscard]] inline boost::system::error_code make_error_code(FabricErrc error) {
  return {static_cast<int>(error), fabric_category()};
}

/// Returns the errno value that a C caller gets for an error of FabricErrc or of the errno
/// category.
[[nodiscard]] int errno_of(const boost::system::error_code& error);

/// Returns one or two sentences for the user: the cause, with the directory concerned, and the
/// remedy.
[[nodiscard]] std::string explain(const boost::system::error_code& error,
                                  const FabricConfig& config);

}  // namespace anyrdma::transport::fabric

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::fabric::FabricErrc> : std::true_type {
};
