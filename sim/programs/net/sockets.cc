#include "sim/programs/net/sockets.h"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "sim/host.h"
#include "sim/programs/io/descriptors.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/net/nameless_binding.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {
namespace {

using transport::soft::Prefix;

constexpr int kKindBits = SOCK_CLOEXEC | SOCK_NONBLOCK;
/// How long a kernel asks who has an address.
constexpr Duration kNeighbourPatience = std::chrono::milliseconds(3072);

bool is_internet(std::uint64_t family) {
  return family == AF_INET || family == AF_INET6;
}

Descriptor first_argument(const Thread& thread, const Call& call) {
  return thread.borrow(static_cast<int>(call.arguments[0]));
}

bool waits(const Descriptor& descriptor) {
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

}  // namespace

Sockets::Sockets(Supervisor& supervisor, std::filesystem::path directory)
    : supervisor_(supervisor),
      files_(std::move(directory)),
      streams_(supervisor, files_, sender_,
               [this](const Host& host, const Address& address, const Address& peer) {
                 return hearer_at(host, address, peer, SOCK_STREAM);
               }) {
  supervisor_.world().set_ip_receiver(this);
}

Sockets::~Sockets() {
  supervisor_.world().set_ip_receiver(nullptr);
}

Sockets::Socket* Sockets::of(const Descriptor& descriptor) {
  struct stat about {};
  if (!descriptor || ::fstat(descriptor.get(), &about) != 0) return nullptr;
  const auto found = sockets_.find(about.st_ino);
  return found == sockets_.end() ? nullptr : &found->second;
}

bool Sockets::loses(const Descriptor& descriptor) {
  Socket* const socket = of(descriptor);
  if (socket == nullptr || socket->type != SOCK_STREAM || socket->lost || socket->line != nullptr)
    return false;
  pollfd about{.fd = descriptor.get(), .events = 0, .revents = 0};
  if (::poll(&about, 1, 0) != 1 || (about.revents & POLLHUP) == 0) return false;
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  // One that was never connected hangs up, too.
  if (::getpeername(descriptor.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  socket->lost = true;
  return true;
}

int Sockets::take_failure(const Descriptor& descriptor) {
  Socket* const socket = of(descriptor);
  if (socket == nullptr || socket->type != SOCK_STREAM) return 0;
  if (const int error = take_refusal(*socket, descriptor); error != 0) return error;
  return socket->line == nullptr || socket->connecting ? 0 : socket->line->take_error();
}

/// The kernel has an error of its own for poll(2) to show (Streams::refuse), which goes with it.
int Sockets::take_refusal(Socket& socket, const Descriptor& descriptor) {
  if (!socket.connecting || (socket.line != nullptr && socket.line->is_connecting())) return 0;
  const int error = take_error(socket);
  if (error == 0) return 0;
  socket.connecting = false;
  socket.lost = true;
  int shown = 0;
  socklen_t size = sizeof shown;
  (void)::getsockopt(descriptor.get(), SOL_SOCKET, SO_ERROR, &shown, &size);
  return error;
}

int Sockets::take_error(Socket& socket) {
  const int error = std::exchange(socket.error, 0);
  return error != 0 || socket.line == nullptr ? error : socket.line->take_error();
}

void Sockets::pump() {
  if (!kept_.empty()) deliver_kept();
  streams_.pump();
}

// --- addresses ----------------------------------------------------------------------------------

verbs::Result<Sockets::Address> Sockets::read_name(Thread& thread, const Socket& socket,
                                                   std::uint64_t at, std::uint64_t size) {
  sockaddr_storage name{};
  const std::size_t least =
      socket.family == AF_INET ? sizeof(sockaddr_in) : 24 /* without a scope */;
  if (size > sizeof name || size < sizeof name.ss_family) return verbs::errno_code(EINVAL);
  if (!thread.tracee().read(at, std::as_writable_bytes(std::span(&name, 1)).first(size)))
    return verbs::errno_code(EFAULT);
  if (name.ss_family == AF_UNSPEC) return Address{};
  if (name.ss_family != socket.family) return verbs::errno_code(EAFNOSUPPORT);
  if (size < least) return verbs::errno_code(EINVAL);
  auto address = Address::from(reinterpret_cast<const sockaddr&>(name));
  // In the one shape that IPv4 has here.
  if (address && IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(address->ip.data())))
    address->family = AF_INET;
  return address;
}

long Sockets::write_name(Thread& thread, const Address& address, int family, std::uint64_t at,
                         std::uint64_t size_at) {
  if (at == 0 || size_at == 0) return 0;
  Address shaped = address;
  shaped.family = static_cast<sa_family_t>(family);
  if (family == AF_INET && address.family != AF_INET) shaped.ip = {};
  const sockaddr_storage name = shaped.to_sockaddr();
  const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  const auto room = thread.tracee().peek<socklen_t>(size_at);
  if (!room) return -EFAULT;
  const auto bytes = std::as_bytes(std::span(&name, 1)).first(std::min(*room, size));
  if (!thread.tracee().write(at, bytes) || !thread.tracee().poke(size_at, size)) return -EFAULT;
  return 0;
}

Host* Sockets::owner_of(const Address& address, Host& from) const {
  if (address.is_any()) return &from;
  Host* const host = supervisor_.world().host_of(address);
  return host != nullptr && host->running() ? host : nullptr;
}

verbs::Result<Sockets::Address> Sockets::source_towards(const Address& address, const Host& from,
                                                        const Host* owner) {
  Address source = address;
  source.port = 0;
  if (address.is_any()) return Address::loopback(address.family);
  if (owner == &from) return source;
  std::optional<Address> any;
  for (std::size_t i = 0; i < from.interfaces().size(); ++i) {
    for (const Prefix& prefix : from.interfaces()[i].prefixes) {
      Address there = address;
      there.scope = prefix.address.scope;
      if (prefix.contains(there)) return prefix.address;
      if (!any && prefix.address.family == address.family) any = prefix.address;
    }
  }
  // All hosts of a world have links to each other.
  if (owner != nullptr && any) return *any;
  return verbs::errno_code(ENETUNREACH);
}

// --- names --------------------------------------------------------------------------------------

Sockets::Socket* Sockets::socket_of(const sockaddr_storage& name, socklen_t size) {
  const auto file = files_.name_of(name, size);
  const auto inode = file ? inodes_.find(*file) : inodes_.end();
  const auto found = inode == inodes_.end() ? sockets_.end() : sockets_.find(inode->second);
  return found == sockets_.end() ? nullptr : &found->second;
}

Sockets::Address Sockets::local_of(const Socket& socket) {
  Address local = socket.local;
  if (local.family == AF_UNSPEC) local = Address::wildcard(static_cast<sa_family_t>(socket.family));
  if (local.is_zero() && socket.peer.family != AF_UNSPEC) local = socket.source;
  local.port = socket.port;
  return local;
}

// --- calls --------------------------------------------------------------------------------------

Outcome Sockets::on_socket(Thread& thread, const Call& call) {
  const int type = static_cast<int>(call.arguments[1]) & ~kKindBits;
  // As for a user without CAP_NET_RAW: their packets would reach no other host.
  const bool raw =
      call.arguments[0] == AF_PACKET || (is_internet(call.arguments[0]) && type == SOCK_RAW);
  if (raw) return Outcome::answered(-EPERM);
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
  timeouts_.erase(about.st_ino);
  sockets_[about.st_ino] = {
      .family = static_cast<int>(call.arguments[0]), .type = type, .host = thread.process().host};
  return Outcome::made();
}

Outcome Sockets::on_bind(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return bind_nameless(thread, call, descriptor);
  const auto name = read_name(thread, *socket, call.arguments[1], call.arguments[2]);
  if (!name) return Outcome::answered(-name.error().value());
  // Of no family: any address, as programs of old have it.
  const bool is_any = name->family == AF_UNSPEC || name->is_zero();
  const bool for_all = !is_any && socket->type == SOCK_DGRAM && is_for_all(*name, *socket->host);
  if (!is_any && !for_all && owner_of(*name, *socket->host) != socket->host)
    return Outcome::answered(-EADDRNOTAVAIL);
  if (socket->port != 0) return Outcome::answered(-EINVAL);
  if (!is_any) socket->local = *name;
  int error = EADDRINUSE;
  if (name->port == 0) {
    error = bind_to_any(descriptor, *socket);
  } else if (!port_is_held(*socket, name->port)) {
    error = bind_to(descriptor, *socket, name->port);
  }
  if (error != 0) socket->local = {};
  return Outcome::answered(-error);
}

Outcome Sockets::on_listen(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket != nullptr && socket->port == 0) {
    if (const int error = bind_to_any(descriptor, *socket); error != 0)
      return Outcome::answered(-error);
  }
  if (socket == nullptr) return Outcome::made();
  if (!std::exchange(socket->listening, true) && port_is_taken(*socket, socket->port)) {
    socket->listening = false;
    return Outcome::answered(-EADDRINUSE);
  }
  return Outcome::made();
}

Outcome Sockets::on_connect(Thread& thread, const Call& call) {
  supervisor_.note_deed();
  const Descriptor descriptor = first_argument(thread, call);
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return Outcome::made();
  const auto target = read_name(thread, *socket, call.arguments[1], call.arguments[2]);
  if (!target) return Outcome::answered(-target.error().value());
  return socket->type == SOCK_DGRAM ? connect_datagrams(descriptor, *socket, *target)
                                    : connect_stream(thread, descriptor, *socket, *target);
}

/// Who does not wait hears of the outcome by SO_ERROR, or by asking for the connection once more.
Outcome Sockets::connect_stream(Thread& thread, const Descriptor& descriptor, Socket& socket,
                                const Address& target) {
  if (target.family == AF_UNSPEC) return Outcome::answered(-EAFNOSUPPORT);
  if (socket.line != nullptr && socket.line->is_connecting()) return Outcome::answered(-EALREADY);
  if (const int error = take_refusal(socket, descriptor); error != 0)
    return Outcome::answered(-error);
  if (std::exchange(socket.connecting, false)) return Outcome::answered(0);
  if (socket.peer.family != AF_UNSPEC) return Outcome::answered(-EISCONN);
  const Host* const owner = owner_of(target, *socket.host);
  const auto source = source_towards(target, *socket.host, owner);
  if (!source) return Outcome::answered(-source.error().value());
  const bool patient = waits(descriptor);
  if (owner == nullptr) {
    if (patient && !thread.spend(kNeighbourPatience)) return Outcome::over();
    return Outcome::answered(-EHOSTUNREACH);
  }
  if (socket.port == 0) {
    if (const int error = bind_to_any(descriptor, socket); error != 0)
      return Outcome::answered(-error);
  }
  // Before it is accepted: whoever does so asks for it.
  socket.source = socket.local.family == AF_UNSPEC ? *source : socket.local;
  socket.source.port = socket.port;
  socket.peer = target.is_zero() ? Address::loopback(target.family) : target;
  socket.peer.port = target.port;
  if (owner != socket.host) return connect_elsewhere(thread, descriptor, socket);
  const std::string name = hearer_at(*owner, target, socket.source, SOCK_STREAM);
  int error = ECONNREFUSED;
  while (!name.empty()) {
    error = files_.connect(descriptor, name);
    supervisor_.look();
    if (error != EAGAIN) break;
    thread.yield();  // who listens has more waiting than it wants
    if (thread.is_over()) return Outcome::over();
  }
  if (error != 0) socket.peer = {};
  if (patient) return Outcome::answered(-error);
  socket.connecting = true;
  socket.error = error;
  if (error != 0) streams_.refuse(descriptor);
  return Outcome::answered(-EINPROGRESS);
}

Outcome Sockets::connect_elsewhere(Thread& thread, const Descriptor& descriptor, Socket& socket) {
  Line& line = streams_.connect(*socket.host, socket.source, socket.peer);
  Woken woken = Woken::kSignal;
  if (waits(descriptor)) {
    woken = streams_.wait_for(thread, line, deadline_of(thread, descriptor, SO_SNDTIMEO));
    if (woken == Woken::kOver) {
      streams_.forget(line);
      return Outcome::over();
    }
  }
  // The socket is as it was, and may try again.
  if (const int error = line.take_error(); error != 0) {
    socket.peer = {};
    return Outcome::answered(-error);
  }
  if (const int error = streams_.attach(line, descriptor); error != 0) {
    streams_.forget(line);
    socket.peer = {};
    return Outcome::answered(-error);
  }
  socket.line = &line;
  apply_options(socket);
  socket.connecting = woken != Woken::kReady;
  if (!socket.connecting) return Outcome::answered(0);
  return Outcome::answered(woken == Woken::kSignal && waits(descriptor) ? -EINTR : -EINPROGRESS);
}

Outcome Sockets::on_accept(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  const Socket* const listener = of(descriptor);
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
  Socket socket{.family = listener->family,
                .type = listener->type,
                .host = listener->host,
                .port = listener->port,
                .abrupt = listener->abrupt,
                .line = streams_.of_accepted(accepted),
                .reuse_address = listener->reuse_address,
                .reuse_port = listener->reuse_port,
                .keepalive = listener->keepalive,
                .options = listener->options};
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getpeername(accepted.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) size = 0;
  if (socket.line != nullptr) {
    socket.source = socket.line->local();
    socket.peer = socket.line->peer();
  } else if (const Socket* const peer = socket_of(name, size)) {
    socket.source = peer->peer;
    socket.peer = peer->source;
  }
  if (write_name(thread, socket.peer, socket.family, call.arguments[1], call.arguments[2]) != 0)
    thread.tracee().set_result(-EFAULT);
  // What the kernel's sockets do not inherit.
  for (const auto& [option, is_on] : {std::pair(SO_REUSEADDR, int{socket.reuse_address}),
                                      std::pair(SO_KEEPALIVE, int{socket.keepalive})})
    (void)::setsockopt(accepted.get(), SOL_SOCKET, option, &is_on, sizeof is_on);
  apply_options(socket);
  sockets_[about.st_ino] = std::move(socket);
  return Outcome::made();
}

Outcome Sockets::on_getsockname(Thread& thread, const Call& call) {
  const Socket* const socket = of(first_argument(thread, call));
  if (socket == nullptr) return Outcome::made();
  return Outcome::answered(
      write_name(thread, local_of(*socket), socket->family, call.arguments[1], call.arguments[2]));
}

Outcome Sockets::on_getpeername(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  const Socket* const socket = of(descriptor);
  if (socket == nullptr) return Outcome::made();
  const bool none_yet = socket->line != nullptr && socket->line->is_connecting();
  if (socket->peer.family == AF_UNSPEC || none_yet) return Outcome::answered(-ENOTCONN);
  return Outcome::answered(
      write_name(thread, socket->peer, socket->family, call.arguments[1], call.arguments[2]));
}

// --- options ------------------------------------------------------------------------------------

Outcome Sockets::on_setsockopt(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  note_timeout(thread, call, descriptor);
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return Outcome::made();
  if (call.arguments[1] == SOL_SOCKET) {
    note_option(thread, call, *socket);
    if (call.arguments[2] != SO_REUSEPORT) return Outcome::made();
    // Newer kernels refuse it for sockets that are not of the internet.
    const auto on = thread.tracee().peek<int>(call.arguments[3]);
    if (call.arguments[4] < sizeof *on) return Outcome::answered(-EINVAL);
    if (!on) return Outcome::answered(-EFAULT);
    socket->reuse_port = *on != 0;
    return Outcome::answered(0);
  }
  return set_option(thread, call, *socket);
}

void Sockets::note_option(Thread& thread, const Call& call, Socket& socket) {
  if (call.arguments[2] == SO_LINGER) {
    const auto value = thread.tracee().peek<linger>(call.arguments[3]);
    if (value) socket.abrupt = value->l_onoff != 0 && value->l_linger == 0;
  } else if (call.arguments[2] == SO_REUSEADDR || call.arguments[2] == SO_KEEPALIVE) {
    const auto value = thread.tracee().peek<int>(call.arguments[3]);
    if (!value || call.arguments[4] < sizeof *value) return;
    (call.arguments[2] == SO_KEEPALIVE ? socket.keepalive : socket.reuse_address) = *value != 0;
  }
  apply_options(socket);
}

void Sockets::apply_options(const Socket& socket) {
  if (socket.line == nullptr) return;
  socket.line->set_abrupt(socket.abrupt);
  socket.line->set_reuse_address(socket.reuse_address);
  socket.line->set_keepalive(socket.keepalive ? std::optional(socket.options.keepalive())
                                              : std::nullopt);
}

Outcome Sockets::set_option(Thread& thread, const Call& call, Socket& socket) {
  const auto level = static_cast<int>(call.arguments[1]);
  const auto name = static_cast<int>(call.arguments[2]);
  std::vector<std::byte> value(
      std::min<std::uint64_t>(call.arguments[4], SocketOptions::kBytesMax));
  if (!thread.tracee().read(call.arguments[3], value)) return Outcome::answered(-EFAULT);
  if (const auto error = set_group_option(socket, level, name, value))
    return Outcome::answered(-*error);
  if (!SocketOptions::is_valid(level, name, value)) return Outcome::answered(-EINVAL);
  socket.options.set(level, name, value);
  apply_options(socket);
  return Outcome::answered(0);
}

/// The kernel rounds a timeout up to its own ticks, of which one machine has more than another.
void Sockets::note_timeout(Thread& thread, const Call& call, const Descriptor& descriptor) {
  const auto option = static_cast<int>(call.arguments[2]);
  const bool sending = option == SO_SNDTIMEO || option == SO_SNDTIMEO_NEW;
  const bool receiving = option == SO_RCVTIMEO || option == SO_RCVTIMEO_NEW;
  struct stat about {};
  if (call.arguments[1] != SOL_SOCKET || (!sending && !receiving) || !descriptor ||
      ::fstat(descriptor.get(), &about) != 0)
    return;
  const auto limit = thread.tracee().peek<timeval>(call.arguments[3]);
  if (!limit || call.arguments[4] < sizeof *limit) return;
  Timeouts& timeouts = timeouts_[about.st_ino];
  (sending ? timeouts.sending : timeouts.receiving) =
      std::chrono::seconds(limit->tv_sec) + std::chrono::microseconds(limit->tv_usec);
}

std::optional<Instant> Sockets::deadline_of(const Thread& thread, const Descriptor& descriptor,
                                            int option) const {
  struct stat about {};
  if (timeouts_.empty() || ::fstat(descriptor.get(), &about) != 0) return std::nullopt;
  const auto found = timeouts_.find(about.st_ino);
  if (found == timeouts_.end()) return std::nullopt;
  const Duration limit = option == SO_SNDTIMEO ? found->second.sending : found->second.receiving;
  return limit > Duration::zero() ? std::optional(thread.now() + limit) : std::nullopt;
}

/// What tells of the machine or of its other sockets. nullopt: another option.
std::optional<Outcome> Sockets::tell_option(Thread& thread, const Call& call,
                                            const Descriptor& descriptor) {
  std::uint64_t value = 0;
  std::size_t size = sizeof value;
  if (call.arguments[1] != SOL_SOCKET || !descriptor) return std::nullopt;
  if (call.arguments[2] == SO_COOKIE) {
    struct stat about {};
    if (::fstat(descriptor.get(), &about) != 0) return std::nullopt;
    value = supervisor_.kernel().numbers.of(Numbers::Kind::kCookie, about.st_ino);
  } else if (call.arguments[2] == SO_INCOMING_CPU) {
    size = sizeof(int);
  } else {
    return std::nullopt;
  }
  const auto room = thread.tracee().peek<socklen_t>(call.arguments[4]);
  if (!room) return Outcome::answered(-EFAULT);
  if (*room < size) return Outcome::answered(-EINVAL);
  const auto bytes = std::as_bytes(std::span(&value, 1)).first(size);
  const bool written = thread.tracee().write(call.arguments[3], bytes) &&
                       thread.tracee().poke(call.arguments[4], static_cast<socklen_t>(size));
  return Outcome::answered(written ? 0 : -EFAULT);
}

Outcome Sockets::on_getsockopt(Thread& thread, const Call& call) {
  const Descriptor descriptor = first_argument(thread, call);
  if (auto told = tell_option(thread, call, descriptor)) return *told;
  Socket* const socket = of(descriptor);
  if (socket == nullptr) return Outcome::made();
  int value = 0;
  if (call.arguments[1] == SOL_SOCKET) {
    if (call.arguments[2] == SO_ERROR) {
      const bool ours = socket->type == SOCK_DGRAM || socket->line != nullptr ||
                        socket->connecting || socket->error != 0;
      if (!ours) return Outcome::made();
      value = take_refusal(*socket, descriptor);
      if (value == 0) value = take_error(*socket);
      if (socket->type == SOCK_DGRAM) drop_refusals(descriptor);
      socket->connecting = socket->line != nullptr && socket->line->is_connecting();
    } else if (call.arguments[2] == SO_DOMAIN) {
      value = socket->family;
    } else if (call.arguments[2] == SO_PROTOCOL) {
      value = socket->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
    } else if (call.arguments[2] == SO_REUSEPORT) {
      value = socket->reuse_port ? 1 : 0;
    } else {
      return Outcome::made();
    }
  }
  const auto size = thread.tracee().peek<socklen_t>(call.arguments[4]);
  if (!size) return Outcome::answered(-EFAULT);
  std::vector<std::byte> bytes;
  if (call.arguments[1] == SOL_SOCKET) {
    const auto of_value = std::as_bytes(std::span(&value, 1));
    bytes.assign(of_value.begin(), of_value.end());
  } else {
    bytes = socket->options.get(
        static_cast<int>(call.arguments[1]), static_cast<int>(call.arguments[2]),
        {.connected = socket->peer.family != AF_UNSPEC, .listening = socket->listening});
  }
  bytes.resize(std::min<std::size_t>(*size, bytes.size()));
  const bool written =
      thread.tracee().write(call.arguments[3], bytes) &&
      thread.tracee().poke(call.arguments[4], static_cast<socklen_t>(bytes.size()));
  return Outcome::answered(written ? 0 : -EFAULT);
}

/// Of the first IPv4 address of the interface, which is the first one if it has no such name.
Outcome Sockets::on_ioctl(Thread& thread, const Call& call) {
  const Socket* const socket = of(first_argument(thread, call));
  if (socket == nullptr) return Outcome::made();
  auto request = thread.tracee().peek<ifreq>(call.arguments[2]);
  if (!request) return Outcome::answered(-EFAULT);
  request->ifr_name[IFNAMSIZ - 1] = 0;
  std::optional<Prefix> found;
  if (std::string(request->ifr_name) == "lo") {
    found = Prefix{.address = Address::loopback(AF_INET), .bits = 96 + 8};
  } else {
    const Interfaces& interfaces = socket->host->interfaces();
    const Interface* const own = interfaces.find(request->ifr_name);
    for (const Prefix& prefix : (own != nullptr ? *own : interfaces[0]).prefixes) {
      if (!found && prefix.address.family == AF_INET) found = prefix;
    }
  }
  if (!found) return Outcome::answered(-EADDRNOTAVAIL);
  Address answer = found->address;
  for (unsigned bit = 96; bit < 128 && call.arguments[1] != SIOCGIFADDR; ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80 >> (bit % 8));
    std::uint8_t& byte = answer.ip[bit / 8];
    const bool of_network = bit < found->bits;
    const bool set =
        call.arguments[1] == SIOCGIFNETMASK ? of_network : !of_network || (byte & mask) != 0;
    byte = static_cast<std::uint8_t>(set ? byte | mask : byte & ~mask);
  }
  const sockaddr_storage name = answer.to_sockaddr();
  std::memcpy(&request->ifr_addr, &name, sizeof request->ifr_addr);
  return Outcome::answered(thread.tracee().poke(call.arguments[2], *request) ? 0 : -EFAULT);
}

}  // namespace anyrdma::sim::programs
