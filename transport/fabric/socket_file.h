// The address of a Unix socket that is a file. Every network namespace can reach such a socket, but
// only users who may enter its directory.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

namespace anyrdma::transport::fabric {

struct SocketFile {
  sockaddr_un address{};
  socklen_t length = 0;

  /// Makes the address of the file `name` in a directory. `directory` is a descriptor of the
  /// directory, and `path` its path. An address has room for 107 bytes. If the path is longer, the
  /// address uses the descriptor, which needs a mounted /proc.
  SocketFile(int directory, const std::string& path, const std::string& name);

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

}  // namespace anyrdma::transport::fabric
