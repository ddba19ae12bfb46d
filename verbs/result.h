// The result type of functions that can fail. They return Result<T>, whose error is in the errno
// category, so that the C API can return the errno value unchanged.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

namespace anyrdma::verbs {

/// A value or an error code. Every function that returns this type is [[nodiscard]].
template <class T = void>
using Result = boost::system::result<T>;

/// An errno value (EINVAL, ENOMEM ...) as the error of a Result.
[[nodiscard]] inline boost::system::error_code errno_code(int value) {
  return {value, boost::system::generic_category()};
}

}  // namespace anyrdma::verbs
