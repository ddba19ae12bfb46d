#include "transport/open/open.h"

#include "transport/open/real.h"
#include "transport/open/simulated.h"

namespace anyrdma::transport {

OpenResult open(std::string_view name, const OpenOptions& options) {
  return name == "sim" ? open_simulated(options) : open_real(name, options);
}

}  // namespace anyrdma::transport
