// UDP: each datagram is addressed by the one who sends it, so the kernel's sockets are never
// connected.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sim/programs/io/descriptors.h"
#include "sim/programs/io/in_pieces.h"
#include "sim/programs/net/sockets.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

constexpr std::size_t kDatagramMax = 65536;
constexpr std::size_t kPartsMax = 1024;

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

std::optional<Sockets::Message> Sockets::read_message(Thread& thread, std::uint64_t at,
                                                      std::uint64_t flags) {
  const auto header = thread.tracee().peek<msghdr>(at);
  if (!header) return std::nullopt;
  Message message{.parts = std::vector<iovec>(std::min(header->msg_iovlen, kPartsMax)),
                  .name = reinterpret_cast<std::uint64_t>(header->msg_name),
                  .name_size = header->msg_namelen,
                  .name_size_at = at + offsetof(msghdr, msg_namelen),
                  .header = at,
                  .flags = flags};
  const auto parts = reinterpret_cast<std::uint64_t>(header->msg_iov);
  if (!thread.tracee().read(parts, std::as_writable_bytes(std::span(message.parts))))
    return std::nullopt;
  return message;
}

/// Of readv and writev.
std::optional<Sockets::Message> Sockets::read_parts(Thread& thread, const Call& call) {
  Message message{.parts = std::vector<iovec>(std::min(call.arguments[2], kPartsMax))};
  if (!thread.tracee().read(call.arguments[1], std::as_writable_bytes(std::span(message.parts))))
    return std::nullopt;
  return message;
}

/// Nothing is sent: it says from whom datagrams come, and where those without an address go.
Outcome Sockets::connect_datagrams(const Descriptor& descriptor, Socket& socket,
                                   const Address& target) {
  if (target.family == AF_UNSPEC) {
    socket.peer = {};
    return Outcome::answered(0);
  }
  const auto source = is_for_all(target, *socket.host)
                          ? source_for_all(socket, target)
                          : source_towards(target, *socket.host, owner_of(target, *socket.host));
  if (!source) return Outcome::answered(-source.error().value());
  if (socket.port == 0) {
    if (const int error = bind_to_any(descriptor, socket); error != 0)
      return Outcome::answered(-error);
  }
  socket.source = socket.local.family == AF_UNSPEC ? *source : socket.local;
  socket.peer = target.is_zero() ? Address::loopback(target.family) : target;
  socket.peer.port = target.port;
  return Outcome::answered(0);
}

// --- sending ------------------------------------------------------------------------------------

Outcome Sockets::on_sendto(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_sendto(thread, call);
  if (socket->type != SOCK_DGRAM) {
    if ((call.arguments[3] & MSG_OOB) != 0) return Outcome::answered(-EOPNOTSUPP);
    // TCP ignores the address, which a Unix socket would refuse.
    Call without = call;
    without.arguments[4] = without.arguments[5] = 0;
    thread.tracee().set_argument(4, 0);
    thread.tracee().set_argument(5, 0);
    return programs::on_sendto(thread, without);
  }
  return send(thread, descriptor, *socket,
              {.parts = {{reinterpret_cast<void*>(call.arguments[1]), call.arguments[2]}},
               .name = call.arguments[4],
               .name_size = call.arguments[5],
               .flags = call.arguments[3]});
}

Outcome Sockets::on_sendmsg(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_sendmsg(thread, call);
  if (socket->type != SOCK_DGRAM && (call.arguments[2] & MSG_OOB) != 0)
    return Outcome::answered(-EOPNOTSUPP);
  if (socket->type != SOCK_DGRAM) return programs::on_sendmsg(thread, call);
  const auto message = read_message(thread, call.arguments[1], call.arguments[2]);
  if (!message) return Outcome::answered(-EFAULT);
  return send(thread, descriptor, *socket, *message);
}

Outcome Sockets::on_write(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr || socket->type != SOCK_DGRAM) return programs::on_write(thread, call);
  return send(thread, descriptor, *socket,
              {.parts = {{reinterpret_cast<void*>(call.arguments[1]), call.arguments[2]}}});
}

Outcome Sockets::on_writev(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr || socket->type != SOCK_DGRAM) return programs::on_writev(thread, call);
  const auto message = read_parts(thread, call);
  if (!message) return Outcome::answered(-EFAULT);
  return send(thread, descriptor, *socket, *message);
}

Outcome Sockets::on_sendmmsg(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_sendmmsg(thread, call);
  if (socket->type != SOCK_DGRAM && (call.arguments[3] & MSG_OOB) != 0)
    return Outcome::answered(-EOPNOTSUPP);
  if (socket->type != SOCK_DGRAM) return programs::on_sendmmsg(thread, call);
  const auto count = std::min<std::uint64_t>(call.arguments[2], kPartsMax);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = call.arguments[1] + i * sizeof(mmsghdr);
    const auto message = read_message(thread, at, call.arguments[3]);
    const Outcome outcome =
        message ? send(thread, descriptor, *socket, *message) : Outcome::answered(-EFAULT);
    if (outcome.kind != Outcome::Kind::kAnswered) return outcome;
    if (outcome.result < 0) return i == 0 ? outcome : Outcome::answered(static_cast<long>(i));
    (void)thread.tracee().poke(at + offsetof(mmsghdr, msg_len),
                               static_cast<unsigned>(outcome.result));
  }
  return Outcome::answered(static_cast<long>(count));
}

Outcome Sockets::send(Thread& thread, const Descriptor& descriptor, Socket& socket,
                      const Message& message) {
  supervisor_.note_deed();
  if ((message.flags & MSG_OOB) != 0) return Outcome::answered(-EOPNOTSUPP);
  Address target = socket.peer;
  if (message.name != 0) {
    const auto name = read_name(thread, socket, message.name, message.name_size);
    if (!name) return Outcome::answered(-name.error().value());
    target = *name;
  }
  if (target.family == AF_UNSPEC) return Outcome::answered(-EDESTADDRREQ);
  if (socket.error != 0) {
    drop_refusals(descriptor);
    return Outcome::answered(-std::exchange(socket.error, 0));
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
  if (const int error = send_to(descriptor, socket, target, bytes); error != 0)
    return Outcome::answered(-error);
  // Who sends and receives without a pause must not stop time.
  if (!thread.spend(supervisor_.call_cost())) return Outcome::over();
  return Outcome::answered(static_cast<long>(bytes.size()));
}

/// A datagram that finds nobody, or no room, is lost, as on any network. Whoever is connected hears
/// that a host has nobody for it.
int Sockets::send_to(const Descriptor& descriptor, Socket& socket, const Address& target,
                     std::span<const std::byte> bytes) {
  if (is_for_all(target, *socket.host)) return send_to_all(descriptor, socket, target, bytes);
  const Host* const owner = owner_of(target, *socket.host);
  auto source = source_towards(target, *socket.host, owner);
  if (!source) return source.error().value();
  if (socket.port == 0) {
    if (const int error = bind_to_any(descriptor, socket); error != 0) return error;
  }
  socket.source = socket.local.family == AF_UNSPEC ? *source : socket.local;
  socket.source.port = socket.port;
  if (owner == nullptr) return 0;
  if (owner != socket.host) {
    streams_.pump();  // what was written before goes before
    sender_.send(*socket.host, socket.source, target, bytes);
  } else if (!deliver(*owner, target, socket.source, bytes) && socket.peer.family != AF_UNSPEC) {
    socket.error = ECONNREFUSED;
  }
  supervisor_.look();
  return 0;
}

// --- receiving ----------------------------------------------------------------------------------

/// What a stream had to give comes before what became of it.
Outcome Sockets::take_from_stream(Socket& socket, const Descriptor& descriptor, Outcome outcome) {
  if (outcome.kind != Outcome::Kind::kMade) return outcome;
  if (const int error = take_refusal(socket, descriptor); error != 0)
    return Outcome::answered(-error);
  if (socket.line == nullptr || socket.connecting) return outcome;
  int readable = 0;
  if (socket.line->error() == 0 || ::ioctl(descriptor.get(), FIONREAD, &readable) != 0 ||
      readable != 0)
    return outcome;
  return Outcome::answered(-socket.line->take_error());
}

Outcome Sockets::on_recvfrom(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_recvfrom(thread, call);
  if (socket->type == SOCK_STREAM) {
    // As if no urgent data had come: none is ever sent.
    if ((call.arguments[3] & MSG_OOB) != 0) return Outcome::answered(-EINVAL);
    if (takes_all(descriptor, call.arguments[3])) {
      const Outcome failed = take_from_stream(*socket, descriptor, Outcome::made());
      return failed.kind == Outcome::Kind::kMade ? programs::on_recvfrom(thread, call) : failed;
    }
    constexpr std::uint64_t kLooksAtAll = MSG_PEEK | MSG_WAITALL;
    const bool patient = (call.arguments[3] & MSG_DONTWAIT) == 0 &&
                         (::fcntl(descriptor.get(), F_GETFL) & O_NONBLOCK) == 0;
    if (patient && (call.arguments[3] & kLooksAtAll) == kLooksAtAll &&
        await_all(thread, descriptor, call.arguments[2]).kind != Outcome::Kind::kMade)
      return Outcome::over();
    // A stream's data has no sender, which this call would have made the kernel say.
    const Outcome outcome =
        take_from_stream(*socket, descriptor, programs::on_recvfrom(thread, call));
    if (outcome.kind == Outcome::Kind::kMade) thread.tracee().set_argument(4, 0);
    return outcome;
  }
  return receive(thread, descriptor, *socket,
                 {.parts = {{reinterpret_cast<void*>(call.arguments[1]), call.arguments[2]}},
                  .name = call.arguments[4],
                  .name_size_at = call.arguments[5],
                  .flags = call.arguments[3]});
}

Outcome Sockets::on_recvmsg(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_recvmsg(thread, call);
  if (socket->type == SOCK_STREAM && (call.arguments[2] & MSG_OOB) != 0)
    return Outcome::answered(-EINVAL);
  if (socket->type == SOCK_STREAM && takes_all(descriptor, call.arguments[2])) {
    const Outcome failed = take_from_stream(*socket, descriptor, Outcome::made());
    return failed.kind == Outcome::Kind::kMade ? programs::on_recvmsg(thread, call) : failed;
  }
  if (socket->type == SOCK_STREAM)
    return take_from_stream(*socket, descriptor, programs::on_recvmsg(thread, call));
  const auto message = read_message(thread, call.arguments[1], call.arguments[2]);
  if (!message) return Outcome::answered(-EFAULT);
  return receive(thread, descriptor, *socket, *message);
}

Outcome Sockets::on_read(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_reading(thread, call);
  if (socket->type == SOCK_STREAM)
    return take_from_stream(*socket, descriptor, programs::on_reading(thread, call));
  return receive(thread, descriptor, *socket,
                 {.parts = {{reinterpret_cast<void*>(call.arguments[1]), call.arguments[2]}}});
}

Outcome Sockets::on_readv(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_reading(thread, call);
  if (socket->type == SOCK_STREAM)
    return take_from_stream(*socket, descriptor, programs::on_reading(thread, call));
  const auto message = read_parts(thread, call);
  if (!message) return Outcome::answered(-EFAULT);
  return receive(thread, descriptor, *socket, *message);
}

/// With MSG_WAITFORONE only the first one is waited for.
Outcome Sockets::on_recvmmsg(Thread& thread, const Call& call) {
  const Descriptor descriptor = thread.borrow(static_cast<int>(call.arguments[0]));
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return programs::on_recvmmsg(thread, call);
  if (socket->type == SOCK_STREAM && (call.arguments[3] & MSG_OOB) != 0)
    return Outcome::answered(-EINVAL);
  if (socket->type != SOCK_DGRAM) return programs::on_recvmmsg(thread, call);
  const auto count = std::min<std::uint64_t>(call.arguments[2], kPartsMax);
  std::uint64_t flags = call.arguments[3] & ~std::uint64_t{MSG_WAITFORONE};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = call.arguments[1] + i * sizeof(mmsghdr);
    const auto message = read_message(thread, at, flags);
    const Outcome outcome =
        message ? receive(thread, descriptor, *socket, *message) : Outcome::answered(-EFAULT);
    if (outcome.kind != Outcome::Kind::kAnswered) return outcome;
    if (outcome.result < 0) return i == 0 ? outcome : Outcome::answered(static_cast<long>(i));
    (void)thread.tracee().poke(at + offsetof(mmsghdr, msg_len),
                               static_cast<unsigned>(outcome.result));
    if ((call.arguments[3] & MSG_WAITFORONE) != 0) flags |= MSG_DONTWAIT;
  }
  return Outcome::answered(static_cast<long>(count));
}

Outcome Sockets::receive(Thread& thread, const Descriptor& descriptor, Socket& socket,
                         const Message& message) {
  std::vector<std::byte> bytes;
  for (const iovec& part : message.parts)
    bytes.resize(std::min(kDatagramMax, bytes.size() + part.iov_len));
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  const bool patient = (message.flags & MSG_DONTWAIT) == 0 && (flags & O_NONBLOCK) == 0;
  Address sender{};
  ssize_t length = 0;
  for (;;) {
    drop_refusals(descriptor);
    if (socket.error != 0) return Outcome::answered(-std::exchange(socket.error, 0));
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    length = ::recvfrom(descriptor.get(), bytes.data(), bytes.size(),
                        static_cast<int>(message.flags) | MSG_DONTWAIT,
                        reinterpret_cast<sockaddr*>(&from), &size);
    if (const Address* const known = length < 0 ? nullptr : sender_of(from, size)) sender = *known;
    if (length >= 0 || errno != EAGAIN || !patient) break;
    std::vector<Watched> watched;
    watched.push_back({Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0)), POLLIN});
    const Woken woken = thread.wait_for(std::move(watched), "a datagram",
                                        deadline_of(thread, descriptor, SO_RCVTIMEO));
    if (woken == Woken::kOver) return Outcome::over();
    if (woken == Woken::kTimeout) return Outcome::answered(-EAGAIN);
    if (woken == Woken::kSignal) return Outcome::answered(-EINTR);
  }
  if (length < 0) {
    const int error = errno;
    if (error == EAGAIN && !thread.look_in_vain()) return Outcome::over();
    return Outcome::answered(-error);
  }
  thread.idleness().note_found();
  if (!thread.spend(supervisor_.call_cost())) return Outcome::over();
  return hand_over(thread, message, std::span(bytes), static_cast<std::size_t>(length), sender,
                   socket.family);
}

Outcome Sockets::hand_over(Thread& thread, const Message& message, std::span<const std::byte> bytes,
                           std::size_t length, const Address& sender, int family) {
  std::size_t done = 0;
  for (const iovec& part : message.parts) {
    const std::size_t some = std::min(part.iov_len, std::min(length, bytes.size()) - done);
    if (!thread.tracee().write(reinterpret_cast<std::uint64_t>(part.iov_base),
                               bytes.subspan(done, some)))
      return Outcome::answered(-EFAULT);
    done += some;
  }
  if (write_name(thread, sender, family, message.name, message.name_size_at) != 0)
    return Outcome::answered(-EFAULT);
  if (message.header != 0) {
    // No ancillary data and no flags.
    (void)thread.tracee().poke(message.header + offsetof(msghdr, msg_controllen), std::size_t{0});
    (void)thread.tracee().poke(message.header + offsetof(msghdr, msg_flags), 0);
  }
  return Outcome::answered(static_cast<long>(length));
}

}  // namespace anyrdma::sim::programs
