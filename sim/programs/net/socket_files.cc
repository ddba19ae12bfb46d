#include "sim/programs/net/socket_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace anyrdma::sim::programs {
namespace {

/// How the kernel says that a file of sockets is left of one that is closed, or is not there.
int as_of_a_port(int error) {
  return error == ENOENT || error == EPROTOTYPE ? ECONNREFUSED : error;
}

int outcome_of(ssize_t result) {
  return result >= 0 ? 0 : as_of_a_port(errno);
}

}  // namespace

SocketFiles::~SocketFiles() {
  std::error_code error;
  if (directory_) std::filesystem::remove_all(path_, error);
}

bool SocketFiles::open() {
  if (directory_) return true;
  std::error_code error;
  if (parent_.empty()) parent_ = std::filesystem::temp_directory_path(error);
  std::string name = parent_ / "anyrdma-sockets.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return false;
  path_ = name;
  directory_ = Descriptor(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return static_cast<bool>(directory_);
}

// By the descriptor: an address has no room for a path that is long.
sockaddr_un SocketFiles::address_of(std::string_view name) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string way =
      "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + std::string(name);
  std::copy_n(way.begin(), std::min(way.size(), sizeof address.sun_path - 1), address.sun_path);
  return address;
}

/// A socket that is closed leaves its file. The kernel tells the two apart for who asks with a
/// socket of another kind.
bool SocketFiles::is_open(std::string_view name, int type) const {
  const int other = type == SOCK_STREAM ? SOCK_DGRAM : SOCK_STREAM;
  const Descriptor probe(::socket(AF_UNIX, other | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(name);
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         (errno != ECONNREFUSED && errno != ENOENT);
}

int SocketFiles::bind(const Descriptor& socket, std::string_view name, int type) {
  if (!open()) return errno;
  const sockaddr_un address = address_of(name);
  const auto* const given = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), given, sizeof address) == 0) return 0;
  if (errno != EADDRINUSE) return errno;
  if (is_open(name, type)) return EADDRINUSE;
  ::unlinkat(directory_.get(), std::string(name).c_str(), 0);
  return ::bind(socket.get(), given, sizeof address) == 0 ? 0 : errno;
}

int SocketFiles::connect(const Descriptor& socket, std::string_view name) {
  if (!open()) return errno;
  const sockaddr_un address = address_of(name);
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  const int result = outcome_of(
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  ::fcntl(socket.get(), F_SETFL, flags);
  return result;
}

int SocketFiles::send(const Descriptor& socket, std::string_view name,
                      std::span<const std::byte> bytes) {
  if (!open()) return errno;
  const sockaddr_un address = address_of(name);
  return outcome_of(::sendto(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

std::optional<std::string> SocketFiles::name_of(const sockaddr_storage& address,
                                                socklen_t size) const {
  const auto& given = reinterpret_cast<const sockaddr_un&>(address);
  if (!directory_ || size <= offsetof(sockaddr_un, sun_path) || given.sun_family != AF_UNIX)
    return std::nullopt;
  const std::string path(given.sun_path, ::strnlen(given.sun_path, sizeof given.sun_path));
  const std::string head = "/proc/self/fd/" + std::to_string(directory_.get()) + "/";
  if (!path.starts_with(head)) return std::nullopt;
  return path.substr(head.size());
}

}  // namespace anyrdma::sim::programs
