#include "transport/open/opened.h"

#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>

namespace anyrdma::transport {
namespace {

/// Says the sentence alone: its base would add the errno.
class OpenFailure : public boost::system::system_error {
 public:
  explicit OpenFailure(const OpenError& error)
      : system_error(error.code), sentence_(error.sentence) {}
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

}  // namespace

void throw_exception_from_error(const OpenError& error, const boost::source_location& where) {
  boost::throw_with_location(OpenFailure(error), where);
}

}  // namespace anyrdma::transport
