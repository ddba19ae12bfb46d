// Device profiles as text: limits and missing features of a simulated device. With a profile, a
// test can run a program on a device without shared receive queues, with 339 queue pairs, or
// without inline data.
//
//   # a comment
//   like rxe
//   max_qp = 339
//   max_srq = 0
//
// The entries of a profile are separated by newlines or commas. The entry `like NAME` comes first,
// and takes over the built-in profile NAME. A text of one word is the name of a built-in profile. A
// limit of 0 means that the device lacks the feature.
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

/// Required by boost::system::result. Never returns: code that reads the value of an error has a
/// bug.
[[noreturn]] void throw_exception_from_error(const ProfileError& error,
                                             const boost::source_location&);

using ProfileResult = boost::system::result<HcaConfig, ProfileError>;

[[nodiscard]] ProfileResult parse_profile(std::string_view text);

/// Returns a device as text for parse_profile(): one entry for each field that differs from the
/// default.
[[nodiscard]] std::string to_string(const HcaConfig& device);

/// Returns the names of the built-in profiles.
[[nodiscard]] std::vector<std::string_view> profile_names();

/// Returns the names of all entries except `like`.
[[nodiscard]] std::vector<std::string_view> entry_names();

/// Gives `device` the limits, capabilities and quirks of `like`. The name, GUID, link layer,
/// ports and queue pair numbers of `device` are unchanged. Of both MTUs the smaller one is used,
/// and of both minimum ACK timeouts the longer one.
void resemble(HcaConfig& device, const HcaConfig& like);

}  // namespace anyrdma::verbs::soft
