// The errors of creating, finding and removing a Soft-RoCE link. The numbers compare equal to the
// errno value that open() returns.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace anyrdma::transport::rxe {

enum class RxeErrc {
  kBadName = 1,     ///< EINVAL: 1 to 63 letters, digits, '.', '_' or '-' name a link
  kNoRdma,          ///< EPROTONOSUPPORT: the kernel has no RDMA, or it may not be asked here
  kNotPermitted,    ///< EPERM: making and removing links takes CAP_NET_ADMIN
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

/// The meaning of the kernel's (6.1) errno for a request with a valid name to add a link.
[[nodiscard]] boost::system::error_code what_adding_met(const boost::system::error_code& error);
/// Like the function above, for a request to remove a device that existed just before.
[[nodiscard]] boost::system::error_code what_removing_met(const boost::system::error_code& error);

/// A sentence for a human: the cause, naming the link and the interface concerned as far as they
/// matter, and the remedy.
[[nodiscard]] std::string explain(const boost::system::error_code& error, std::string_view link,
                                  std::string_view interface = {});

}  // namespace anyrdma::transport::rxe

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::rxe::RxeErrc> : std::true_type {};
