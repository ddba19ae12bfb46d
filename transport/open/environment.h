// What a program is told by its environment (docs/dropin.md has the variables): for those who open
// a transport for somebody else's program.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <string>

#include "transport/open/opened.h"

namespace anyrdma::transport {

/// The value of a variable; where it is unset or empty, `otherwise`.
[[nodiscard]] std::string environment(const char* name, const std::string& otherwise = {});

/// ANYRDMA_TRANSPORT, else "fabric": the same on every machine. "auto" would be another choice, but
/// two processes may differ in what they find, and then they would never meet.
[[nodiscard]] std::string transport_of_environment();

/// ANYRDMA_RAILS, the number of devices over "fabric", else 1. options_of_environment() refuses
/// what is no such number; it is 1 here.
[[nodiscard]] std::size_t rails_of_environment();

/// What all other variables but those of faults say. The error is EINVAL.
[[nodiscard]] boost::system::result<OpenOptions, OpenError> options_of_environment();

}  // namespace anyrdma::transport
