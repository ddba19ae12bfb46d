// Device profiles as text: limits and missing features. A test can check a program on a device
// without shared receive queues, with 339 queue pairs, or without inline data.
//
//   # a comment
//   like rxe
//   max_qp = 339
//   max_srq = 0
//
// Entries are separated by newlines or commas. `like NAME` takes over one of the profiles that are
// built in; it comes first. A text of one word is the name of such a profile. A limit of 0 means
// that the device lacks the thing.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/soft/hca.h"

namespace anyrdma::verbs::soft {

struct ProfileError {
  std::size_t line = 0;  ///< from 1
  std::string reason;

  [[nodiscard]] std::string to_string() const;
};

/// For boost::system::result: reading the value of an error is a bug of the caller.
[[noreturn]] void throw_exception_from_error(const ProfileError& error,
                                             const boost::source_location&);

using ProfileResult = boost::system::result<HcaConfig, ProfileError>;

[[nodiscard]] ProfileResult parse_profile(std::string_view text);

/// What parse_profile reads as the same device: one entry for each field that is not the default's.
[[nodiscard]] std::string to_string(const HcaConfig& device);

/// The names of the profiles that are built in.
[[nodiscard]] std::vector<std::string_view> profile_names();

/// The names of all entries but `like`.
[[nodiscard]] std::vector<std::string_view> entry_names();

/// Gives `device` the limits, capabilities and quirks of `like`; it stays who it is: its name,
/// GUID, link layer and queue pair numbers. Of MTUs the smaller counts, of least ACK timeouts the
/// longer.
void resemble(HcaConfig& device, const HcaConfig& like);

}  // namespace anyrdma::verbs::soft
