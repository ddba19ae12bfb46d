#include "transport/fabric/socket_file.h"

#include <algorithm>
#include <cstddef>

#include "verbs/assert.h"

namespace anyrdma::transport::fabric {

SocketFile::SocketFile(int directory, const std::string& path, const std::string& name) {
  std::string way = path + "/" + name;
  if (way.size() >= sizeof address.sun_path)
    way = "/proc/self/fd/" + std::to_string(directory) + "/" + name;
  CM_ASSERT(way.size() < sizeof address.sun_path);
  address.sun_family = AF_UNIX;
  std::ranges::copy(way, address.sun_path);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + way.size() + 1);
}

}  // namespace anyrdma::transport::fabric
