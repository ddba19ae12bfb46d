#include "sim/programs/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sim/programs/descriptors.h"
#include "sim/programs/process.h"
#include "sim/programs/sandbox.h"

namespace anyrdma::sim::programs {
namespace {

constexpr std::uint16_t kFirstEphemeral = 32768;
constexpr std::uint16_t kLastEphemeral = 60999;
constexpr int kKindBits = SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr std::size_t kDatagramMax = 65536;

bool is_internet(std::uint64_t family) {
  return family == AF_INET || family == AF_INET6;
}

sockaddr_un unix_name(const std::string& key, socklen_t& size) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::size_t length = std::min(key.size(), sizeof name.sun_path - 1);
  std::memcpy(name.sun_path + 1, key.data(), length);  // an abstract one: it leaves no file
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return name;
}

Descriptor first_argument(const Thread& thread, const Call& call) {
  return thread.borrow(static_cast<int>(call.arguments[0]));
}

bool waits(const Descriptor& descriptor) {
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

}  // namespace

/// What sendto, sendmsg and their counterparts have in common.
struct Sockets::Message {
  std::vector<iovec> parts;
  std::uint64_t name = 0;
  std::uint64_t name_size = 0;     ///< to send
  std::uint64_t name_size_at = 0;  ///< to receive: where it stands
  std::uint64_t header = 0;        ///< of a struct msghdr; 0: there is none
  std::uint64_t flags = 0;
};

Sockets::Sockets(Sandbox& sandbox)
    : sandbox_(sandbox), prefix_("anyrdma-sim-" + std::to_string(::getpid()) + "/") {}

Sockets::Socket* Sockets::of(const Descriptor& descriptor) {
  struct stat about {};
  if (!descriptor || ::fstat(descriptor.get(), &about) != 0) return nullptr;
  const auto found = sockets_.find(about.st_ino);
  return found == sockets_.end() ? nullptr : &found->second;
}

bool Sockets::loses(const Descriptor& descriptor) {
  Socket* const socket = of(descriptor);
  if (socket == nullptr || socket->type != SOCK_STREAM || socket->lost) return false;
  pollfd about{.fd = descriptor.get(), .events = 0, .revents = 0};
  if (::poll(&about, 1, 0) != 1 || (about.revents & POLLHUP) == 0) return false;
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  // One that was never connected hangs up, too.
  if (::getpeername(descriptor.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  socket->lost = true;
  return true;
}

// --- names --------------------------------------------------------------------------------------

std::string Sockets::key_of(const Place& place, int type) const {
  return prefix_ + (type == SOCK_STREAM ? "tcp/" : "udp/") + place.host + "/" +
         std::to_string(place.port);
}

std::optional<Sockets::Place> Sockets::parse(const sockaddr_storage& name, socklen_t size) const {
  const auto& given = reinterpret_cast<const sockaddr_un&>(name);
  constexpr std::size_t kHead = offsetof(sockaddr_un, sun_path) + 1;
  if (size <= kHead || given.sun_family != AF_UNIX) return std::nullopt;
  const std::string key(given.sun_path + 1, size - kHead);
  if (!key.starts_with(prefix_)) return std::nullopt;
  const std::size_t host = key.find('/', prefix_.size()) + 1;
  const std::size_t port = key.rfind('/') + 1;
  if (host == 0 || port <= host) return std::nullopt;
  return Place{.host = key.substr(host, port - host - 1),
               .port = static_cast<std::uint16_t>(std::stoul(key.substr(port)))};
}

std::optional<Sockets::Name> Sockets::read_name(Thread& thread, std::uint64_t address,
                                                std::uint64_t size) const {
  Name name;
  name.size = static_cast<socklen_t>(std::min<std::uint64_t>(size, sizeof name.bytes));
  const auto bytes = std::as_writable_bytes(std::span(&name.bytes, 1)).first(name.size);
  if (name.size < sizeof(sa_family_t) || !thread.tracee().read(address, bytes)) return std::nullopt;
  return name;
}

long Sockets::write_name(Thread& thread, const Name& name, std::uint64_t address,
                         std::uint64_t size_at) {
  if (address == 0 || size_at == 0) return 0;
  const auto room = thread.tracee().peek<socklen_t>(size_at);
  if (!room) return -EFAULT;
  const auto bytes = std::as_bytes(std::span(&name.bytes, 1)).first(std::min(*room, name.size));
  if (!thread.tracee().write(address, bytes) || !thread.tracee().poke(size_at, name.size))
    return -EFAULT;
  return 0;
}

Sockets::Name Sockets::name_of(const Place& place, int family) const {
  Name name;
  const Host* const host = sandbox_.world().find_host(place.host);
  const transport::soft::Address address =
      host == nullptr ? transport::soft::Address{} : host->address();
  const bool is_v4 = IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(address.ip.data()));
  if (family == AF_INET) {
    sockaddr_in ip{};
    ip.sin_family = AF_INET;
    ip.sin_port = htons(place.port);
    if (is_v4) std::memcpy(&ip.sin_addr, address.ip.data() + 12, sizeof ip.sin_addr);
    std::memcpy(&name.bytes, &ip, sizeof ip);
    name.size = sizeof ip;
  } else {
    sockaddr_in6 ip{};
    ip.sin6_family = AF_INET6;
    ip.sin6_port = htons(place.port);
    std::memcpy(&ip.sin6_addr, address.ip.data(), sizeof ip.sin6_addr);
    std::memcpy(&name.bytes, &ip, sizeof ip);
    name.size = sizeof ip;
  }
  return name;
}

/// Whose address it is, as that host sees it; nullopt: nobody's.
std::optional<Sockets::Place> Sockets::place_of(const Name& name, const Host& from) const {
  const auto address =
      transport::soft::Address::from(reinterpret_cast<const sockaddr&>(name.bytes));
  if (!address) return std::nullopt;
  if (address->is_zero() || address->is_loopback())
    return Place{.host = from.name(), .port = address->port};
  const Host* const host = sandbox_.world().host_of(*address);
  if (host == nullptr) return std::nullopt;
  return Place{.host = host->name(), .port = address->port};
}

int Sockets::bind_to(const Descriptor& descriptor, Socket& socket, std::uint16_t port) {
  socklen_t size = 0;
  const sockaddr_un name =
      unix_name(key_of({.host = socket.host->name(), .port = port}, socket.type), size);
  if (::bind(descriptor.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) return errno;
  socket.port = port;
  return 0;
}

int Sockets::bind_to_any(const Descriptor& descriptor, Socket& socket) {
  std::uint16_t& next = next_port_.try_emplace(socket.host, kFirstEphemeral).first->second;
  for (unsigned tries = 0; tries <= kLastEphemeral - kFirstEphemeral; ++tries) {
    const std::uint16_t port = next;
    next = port == kLastEphemeral ? kFirstEphemeral : static_cast<std::uint16_t>(port + 1);
    if (const int error = bind_to(descriptor, socket, port); error != EADDRINUSE) return error;
  }
  return EADDRINUSE;
}

// --- calls --------------------------------------------------------------------------------------

Outcome Sockets::on_socket(Thread& thread, const Call& call) {
  const int type = static_cast<int>(call.arguments[1]) & ~kKindBits;
  if (!is_internet(call.arguments[0]) || (type != SOCK_STREAM && type != SOCK_DGRAM))
    return Outcome::made();
  auto registers = thread.tracee().registers();
  if (!registers) return Outcome::over();
  registers->rdi = AF_UNIX;
  registers->rdx = 0;
  thread.tracee().set_registers(*registers);
  const auto fd = thread.finish_call();
  if (!fd) return Outcome::over();
  const Descriptor descriptor = thread.borrow(static_cast<int>(*fd));
  struct stat about {};
  if (*fd < 0 || ::fstat(descriptor.get(), &about) != 0) return Outcome::made();
  sockets_[about.st_ino] = {
      .family = static_cast<int>(call.arguments[0]), .type = type, .host = thread.process().host};
  return Outcome::made();
}

Outcome Sockets::on_bind(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return Outcome::made();
  const auto name = read_name(thread, call.arguments[1], call.arguments[2]);
  if (!name) return Outcome::answered(-EFAULT);
  const auto place = place_of(*name, *socket->host);
  if (!place || place->host != socket->host->name()) return Outcome::answered(-EADDRNOTAVAIL);
  if (socket->port != 0) return Outcome::answered(-EINVAL);
  const int error = place->port == 0 ? bind_to_any(descriptor, *socket)
                                     : bind_to(descriptor, *socket, place->port);
  if (error == 0) {
    socket->local = *name;
    // Both families have it in the same place.
    reinterpret_cast<sockaddr_in&>(socket->local.bytes).sin_port = htons(socket->port);
  }
  return Outcome::answered(-error);
}

Outcome Sockets::on_listen(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket != nullptr && socket->port == 0) {
    if (const int error = bind_to_any(descriptor, *socket); error != 0)
      return Outcome::answered(-error);
  }
  return Outcome::made();
}

Outcome Sockets::on_connect(Thread& thread, const Call& call) {
  sandbox_.note_deed();
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return Outcome::made();
  const auto name = read_name(thread, call.arguments[1], call.arguments[2]);
  if (!name) return Outcome::answered(-EFAULT);
  if (!is_internet(name->bytes.ss_family)) return Outcome::answered(-EAFNOSUPPORT);
  const auto place = place_of(*name, *socket->host);
  if (!place) return Outcome::answered(-EHOSTUNREACH);
  if (socket->port == 0) {
    if (const int error = bind_to_any(descriptor, *socket); error != 0)
      return Outcome::answered(-error);
  }
  socklen_t size = 0;
  const sockaddr_un target = unix_name(key_of(*place, socket->type), size);
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  for (;;) {
    ::fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK);
    const int result =
        ::connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&target), size);
    const int error = result == 0 ? 0 : errno;
    ::fcntl(descriptor.get(), F_SETFL, flags);
    sandbox_.look();
    if (error != EAGAIN) return Outcome::answered(-error);
    thread.yield();  // who listens has more waiting than it wants
    if (thread.is_over()) return Outcome::over();
  }
}

Outcome Sockets::on_accept(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const listener = of(descriptor);
  const Outcome outcome = on_reading(thread, call);
  if (listener == nullptr || outcome.kind != Outcome::Kind::kMade) return outcome;
  thread.tracee().set_argument(1, 0);
  thread.tracee().set_argument(2, 0);
  const auto fd = thread.finish_call();
  if (!fd) return Outcome::over();
  if (*fd < 0) return Outcome::made();
  const Descriptor accepted = thread.borrow(static_cast<int>(*fd));
  struct stat about {};
  if (::fstat(accepted.get(), &about) != 0) return Outcome::made();
  sockets_[about.st_ino] = {.family = listener->family,
                            .type = listener->type,
                            .host = listener->host,
                            .port = listener->port,
                            .local = {}};
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(accepted.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0)
    return Outcome::made();
  const auto place = parse(peer, size);
  if (place && write_name(thread, name_of(*place, listener->family), call.arguments[1],
                          call.arguments[2]) != 0)
    thread.tracee().set_result(-EFAULT);
  return Outcome::made();
}

Outcome Sockets::on_getsockname(Thread& thread, const Call& call) {
  const Socket* const socket = of(first_argument(thread, call));
  if (socket == nullptr) return Outcome::made();
  Name name = name_of({.host = socket->host->name(), .port = socket->port}, socket->family);
  if (socket->local.size != 0) {
    name = socket->local;
  } else if (socket->port == 0) {
    name.bytes = {};
    name.bytes.ss_family = static_cast<sa_family_t>(socket->family);
  }
  return Outcome::answered(write_name(thread, name, call.arguments[1], call.arguments[2]));
}

Outcome Sockets::on_getpeername(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  const Socket* const socket = of(descriptor);
  if (socket == nullptr) return Outcome::made();
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(descriptor.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0)
    return Outcome::answered(-errno);
  const auto place = parse(peer, size);
  if (!place) return Outcome::answered(-ENOTCONN);
  return Outcome::answered(
      write_name(thread, name_of(*place, socket->family), call.arguments[1], call.arguments[2]));
}

Outcome Sockets::on_setsockopt(Thread& thread, const Call& call) {
  if (call.arguments[1] == SOL_SOCKET || of(first_argument(thread, call)) == nullptr)
    return Outcome::made();
  return Outcome::answered(0);  // of protocols that are not there
}

Outcome Sockets::on_getsockopt(Thread& thread, const Call& call) {
  const Socket* const socket = of(first_argument(thread, call));
  if (socket == nullptr) return Outcome::made();
  int value = 0;
  if (call.arguments[1] == SOL_SOCKET) {
    if (call.arguments[2] != SO_DOMAIN && call.arguments[2] != SO_PROTOCOL) return Outcome::made();
    const int protocol = socket->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
    value = call.arguments[2] == SO_DOMAIN ? socket->family : protocol;
  }
  const auto size = thread.tracee().peek<socklen_t>(call.arguments[4]);
  if (!size) return Outcome::answered(-EFAULT);
  std::vector<std::byte> bytes(std::min<std::size_t>(*size, 256));
  std::memcpy(bytes.data(), &value, std::min(bytes.size(), sizeof value));
  return Outcome::answered(thread.tracee().write(call.arguments[3], bytes) ? 0 : -EFAULT);
}

// --- datagrams ----------------------------------------------------------------------------------

std::optional<Sockets::Message> Sockets::read_message(Thread& thread, const Call& call) {
  const auto header = thread.tracee().peek<msghdr>(call.arguments[1]);
  if (!header) return std::nullopt;
  Message message{.parts = std::vector<iovec>(std::min<std::size_t>(header->msg_iovlen, 1024)),
                  .name = reinterpret_cast<std::uint64_t>(header->msg_name),
                  .name_size = header->msg_namelen,
                  .name_size_at = call.arguments[1] + offsetof(msghdr, msg_namelen),
                  .header = call.arguments[1],
                  .flags = call.arguments[2]};
  const auto at = reinterpret_cast<std::uint64_t>(header->msg_iov);
  if (!thread.tracee().read(at, std::as_writable_bytes(std::span(message.parts))))
    return std::nullopt;
  return message;
}

Outcome Sockets::on_sendto(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr || call.arguments[4] == 0 || socket->type != SOCK_DGRAM)
    return programs::on_sendto(thread, call);
  return send(thread, descriptor, *socket,
              {.parts = {{reinterpret_cast<void*>(call.arguments[1]), call.arguments[2]}},
               .name = call.arguments[4],
               .name_size = call.arguments[5],
               .flags = call.arguments[3]});
}

Outcome Sockets::on_sendmsg(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr || socket->type != SOCK_DGRAM) return programs::on_sendmsg(thread, call);
  const auto message = read_message(thread, call);
  if (!message) return Outcome::answered(-EFAULT);
  if (message->name == 0) return programs::on_sendmsg(thread, call);
  return send(thread, descriptor, *socket, *message);
}

/// A datagram that finds nobody, or no room, is lost, as on any network.
Outcome Sockets::send(Thread& thread, const Descriptor& descriptor, Socket& socket,
                      const Message& message) {
  const auto name = read_name(thread, message.name, message.name_size);
  if (!name) return Outcome::answered(-EFAULT);
  if (socket.port == 0) {
    if (const int error = bind_to_any(descriptor, socket); error != 0)
      return Outcome::answered(-error);
  }
  std::vector<std::byte> bytes;
  for (const iovec& part : message.parts) {
    const std::size_t old = bytes.size();
    if (part.iov_len > kDatagramMax - old) return Outcome::answered(-EMSGSIZE);
    bytes.resize(old + part.iov_len);
    if (!thread.tracee().read(reinterpret_cast<std::uint64_t>(part.iov_base),
                              std::span(bytes).subspan(old)))
      return Outcome::answered(-EFAULT);
  }
  const auto place = place_of(*name, *socket.host);
  if (place) {
    socklen_t size = 0;
    const sockaddr_un target = unix_name(key_of(*place, SOCK_DGRAM), size);
    (void)::sendto(descriptor.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                   reinterpret_cast<const sockaddr*>(&target), size);
    sandbox_.look();
  }
  return Outcome::answered(static_cast<long>(bytes.size()));
}

Outcome Sockets::on_recvfrom(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr || call.arguments[4] == 0) return programs::on_recvfrom(thread, call);
  return receive(thread, descriptor, *socket,
                 {.parts = {{reinterpret_cast<void*>(call.arguments[1]), call.arguments[2]}},
                  .name = call.arguments[4],
                  .name_size_at = call.arguments[5],
                  .flags = call.arguments[3]});
}

Outcome Sockets::on_recvmsg(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr || socket->type != SOCK_DGRAM) return programs::on_recvmsg(thread, call);
  const auto message = read_message(thread, call);
  if (!message) return Outcome::answered(-EFAULT);
  return receive(thread, descriptor, *socket, *message);
}

Outcome Sockets::receive(Thread& thread, const Descriptor& descriptor, Socket& socket,
                         const Message& message) {
  std::vector<std::byte> bytes;
  for (const iovec& part : message.parts)
    bytes.resize(std::min(kDatagramMax, bytes.size() + part.iov_len));
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  ssize_t length = 0;
  for (;;) {
    size = sizeof from;
    length = ::recvfrom(descriptor.get(), bytes.data(), bytes.size(),
                        static_cast<int>(message.flags) | MSG_DONTWAIT,
                        reinterpret_cast<sockaddr*>(&from), &size);
    if (length >= 0 || errno != EAGAIN) break;
    if ((message.flags & MSG_DONTWAIT) != 0 || !waits(descriptor)) break;
    std::vector<Watched> watched;
    watched.push_back({Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0)), POLLIN});
    const Woken woken = thread.wait_for(std::move(watched), "a datagram");
    if (woken == Woken::kOver) return Outcome::over();
    if (woken == Woken::kSignal) return Outcome::answered(-EINTR);
  }
  if (length < 0) return Outcome::answered(-errno);
  std::size_t done = 0;
  for (const iovec& part : message.parts) {
    const std::size_t some = std::min(part.iov_len, static_cast<std::size_t>(length) - done);
    if (!thread.tracee().write(reinterpret_cast<std::uint64_t>(part.iov_base),
                               std::span(bytes).subspan(done, some)))
      return Outcome::answered(-EFAULT);
    done += some;
  }
  if (const auto place = parse(from, size);
      place &&
      write_name(thread, name_of(*place, socket.family), message.name, message.name_size_at) != 0)
    return Outcome::answered(-EFAULT);
  if (message.header != 0) {
    // No ancillary data and no flags.
    (void)thread.tracee().poke(message.header + offsetof(msghdr, msg_controllen), std::size_t{0});
    (void)thread.tracee().poke(message.header + offsetof(msghdr, msg_flags), 0);
  }
  return Outcome::answered(length);
}

}  // namespace anyrdma::sim::programs
