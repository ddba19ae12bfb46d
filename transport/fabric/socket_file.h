// The address of a Unix socket that is a file. Every network namespace finds such a socket, and
// only users who may enter its directory do.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <string>

namespace anyrdma::transport::fabric {

struct SocketFile {
  sockaddr_un address{};
  socklen_t length = 0;

  /// The file of that name in a directory that is open under `directory` and has the path `path`.
  /// An address has room for 107 bytes: where the path is longer, the way is by the descriptor
  /// (which takes a mounted /proc).
  SocketFile(int directory, const std::string& path, const std::string& name);

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

}  // namespace anyrdma::transport::fabric
