// Unix sockets that represent TCP and UDP ports: files in one directory, so that processes in every
// network namespace find them. Source: unix(7).
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

using transport::realtime::Descriptor;

/// A directory of Unix sockets, created with the first socket and removed by the destructor. Errors
/// are those of errno(3); 0 means success.
class SocketFiles {
 public:
  /// `parent`: the directory in which the directory of sockets is created; empty: the one for
  /// temporary files.
  explicit SocketFiles(std::filesystem::path parent) : parent_(std::move(parent)) {}
  ~SocketFiles();
  SocketFiles(const SocketFiles&) = delete;
  SocketFiles& operator=(const SocketFiles&) = delete;

  /// Binds a socket to a name. EADDRINUSE: another open socket has that name.
  [[nodiscard]] int bind(const Descriptor& socket, std::string_view name, int type);
  /// Connects to a socket without waiting. ECONNREFUSED: no listener; EAGAIN: its backlog is full.
  [[nodiscard]] int connect(const Descriptor& socket, std::string_view name);
  /// Sends a datagram without waiting. ECONNREFUSED: no socket has that name.
  [[nodiscard]] int send(const Descriptor& socket, std::string_view name,
                         std::span<const std::byte> bytes);
  /// A socket that is closed leaves its file.
  [[nodiscard]] bool is_open(std::string_view name, int type) const;
  /// nullopt: it is none of these.
  [[nodiscard]] std::optional<std::string> name_of(const sockaddr_storage& address,
                                                   socklen_t size) const;

 private:
  [[nodiscard]] bool open();
  [[nodiscard]] sockaddr_un address_of(std::string_view name) const;

  std::filesystem::path parent_;
  std::filesystem::path path_;
  Descriptor directory_;
};

}  // namespace anyrdma::sim::programs
