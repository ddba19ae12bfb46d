// Results of requests that users make in words, with errors in words.
#pragma once

#include <boost/system/result.hpp>
#include <boost/throw_exception.hpp>
#include <stdexcept>
#include <string>

namespace anyrdma::verbs {

/// Why there is no value: a sentence for people, with the remedy.
struct WhyNot {
  std::string sentence;
};

/// For boost::system::result: reading the value of an error is a bug of the caller.
[[noreturn]] inline void throw_exception_from_error(const WhyNot& error,
                                                    const boost::source_location& where) {
  boost::throw_exception(std::invalid_argument(error.sentence), where);
}

/// A value, or why not. Every function returning it is [[nodiscard]].
template <class T>
using OrWhyNot = boost::system::result<T, WhyNot>;

}  // namespace anyrdma::verbs
