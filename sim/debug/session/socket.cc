#include "sim/debug/session/socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace anyrdma::sim::debug {
namespace {

using transport::realtime::Descriptor;

/// Waits a little for something to read.
bool comes(const Descriptor& socket) {
  constexpr int kPauseMs = 100;
  pollfd one{.fd = socket.get(), .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, kPauseMs) > 0;
}

class SocketConnection final : public Connection {
 public:
  SocketConnection(Descriptor socket, bool (*gives_up)())
      : socket_(std::move(socket)), gives_up_(gives_up) {}

  bool send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  std::optional<std::string> receive() override {
    while (!gives_up_()) {
      if (comes(socket_)) return receive_now();
    }
    return std::nullopt;
  }
  std::optional<std::string> receive_now() override {
    std::array<char, 1 << 14> bytes;
    for (;;) {
      const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size > 0) return std::string(bytes.data(), static_cast<std::size_t>(size));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return std::string();
      return std::nullopt;
    }
  }

 private:
  Descriptor socket_;
  bool (*gives_up_)();
};

}  // namespace

verbs::Result<ListeningSocket> ListeningSocket::create(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return verbs::errno_code(ENAMETOOLONG);
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return verbs::errno_code(errno);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return verbs::errno_code(errno == EADDRINUSE ? EEXIST : errno);
  ListeningSocket listening(path, std::move(socket));
  if (::listen(listening.socket_.get(), 1) != 0) return verbs::errno_code(errno);
  return listening;
}

ListeningSocket::~ListeningSocket() {
  if (socket_) ::unlink(path_.c_str());
}

std::unique_ptr<Connection> ListeningSocket::accept(bool (*gives_up)()) {
  while (!gives_up()) {
    if (!comes(socket_)) continue;
    Descriptor accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted) continue;
    ::unlink(path_.c_str());
    socket_.reset();
    return std::make_unique<SocketConnection>(std::move(accepted), gives_up);
  }
  return nullptr;
}

}  // namespace anyrdma::sim::debug
