#include "transport/open/opened.h"

#include <boost/system/system_error.hpp>
#include <boost/throw_exception.hpp>

namespace anyrdma::transport {

void throw_exception_from_error(const OpenError& error, const boost::source_location& where) {
  boost::throw_with_location(boost::system::system_error(error.code, error.sentence), where);
}

}  // namespace anyrdma::transport
