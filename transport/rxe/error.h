// The errors of creating, finding and removing a Soft-RoCE link. Each compares equal to the errno
// value that open() returns.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace anyrdma::transport::rxe {

enum class RxeErrc {
  kBadName = 1,  ///< EINVAL: a link's name must be 1 to 63 letters, digits, '.', '_' or '-'

  /// EPROTONOSUPPORT: the kernel has no RDMA, or does not allow requests about it here.
  kNoRdma,
  kNotPermitted,    ///< EPERM: creating and removing links needs CAP_NET_ADMIN
  kNoModule,        ///< EOPNOTSUPP: the kernel has no rdma_rxe and cannot load it
  kNoChecksum,      ///< ENOENT: rdma_rxe works only with crc32_generic, which is missing
  kNoInterface,     ///< ENODEV: no network interface of that name
  kNoneSuitable,    ///< ENODEV: no interface is up with an IPv4 address
  kNameTaken,       ///< EEXIST: an RDMA device has that name
  kInterfaceTaken,  ///< EEXIST: the interface has a link already
  kNoLink,          ///< ENODEV: no RDMA device of that name
  kNotSoftware,     ///< EINVAL: the RDMA device of that name is not a software link
  kNoNetem,         ///< ENOENT: the kernel has no sch_netem and cannot load it
};

[[nodiscard]] const boost::system::error_category& rxe_category();
[[nodiscard]] inline boost::system::error_code make_error_code(RxeErrc error) {
  return {static_cast<int>(error), rxe_category()};
}

/// Converts the kernel's (6.1) errno of a request to add a link to an error of this module.
/// Precondition: the link's name is valid.
[[nodiscard]] boost::system::error_code what_adding_met(const boost::system::error_code& error);
/// Converts the kernel's (6.1) errno of a request to remove a device to an error of this module.
/// Precondition: the device existed just before.
[[nodiscard]] boost::system::error_code what_removing_met(const boost::system::error_code& error);

/// Returns a sentence for the user: the cause, with the link and the interface concerned, and what
/// to do.
[[nodiscard]] std::string explain(const boost::system::error_code& error, std::string_view link,
                                  std::string_view interface = {});

}  // namespace anyrdma::transport::rxe

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::rxe::RxeErrc> : std::true_type {};
