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

class SocketConnection final : public Connection {
 public:
  explicit SocketConnection(Descriptor socket) : socket_(std::move(socket)) {}

  bool send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  std::optional<std::string> receive() override { return receive_with(0); }
  std::optional<std::string> receive_now() override { return receive_with(MSG_DONTWAIT); }

 private:
  std::optional<std::string> receive_with(int flags) {
    std::array<char, 1 << 14> bytes;
    for (;;) {
      const ssize_t size = ::recv(socket_.get(), bytes.data(), bytes.size(), flags);
      if (size > 0) return std::string(bytes.data(), static_cast<std::size_t>(size));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return std::string();
      return std::nullopt;
    }
  }

  Descriptor socket_;
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
  constexpr int kPauseMs = 100;
  while (!gives_up()) {
    pollfd one{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&one, 1, kPauseMs) <= 0) continue;
    Descriptor accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!accepted) continue;
    ::unlink(path_.c_str());
    socket_.reset();
    return std::make_unique<SocketConnection>(std::move(accepted));
  }
  return nullptr;
}

}  // namespace anyrdma::sim::debug
