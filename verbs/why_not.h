// The result type of functions that parse what users write, such as options. The error is a
// sentence.
#pragma once

#include <boost/system/result.hpp>
#include <boost/throw_exception.hpp>
#include <stdexcept>
#include <string>

namespace anyrdma::verbs {

/// The reason why there is no value: a sentence for the user, with the remedy.
struct WhyNot {
  std::string sentence;
};

/// Required by boost::system::result. Never returns: code that reads the value of an error has a
/// bug.
[[noreturn]] inline void throw_exception_from_error(const WhyNot& error,
                                                    const boost::source_location& where) {
  boost::throw_exception(std::invalid_argument(error.sentence), where);
}

/// A value, or a sentence that says why there is none. Functions that return this type are
/// [[nodiscard]].
template <class T>
using OrWhyNot = boost::system::result<T, WhyNot>;

}  // namespace anyrdma::verbs
