// Ports of sockets: which ones may share one, and which of these hears what arrives. Source:
// ip(7), socket(7); kernel: inet_bind_conflict, udp_lib_lport_inuse, compute_score.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "sim/host.h"
#include "sim/programs/net/sockets.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {
namespace {

// The range that programs bind to with port 0 (ip_local_port_range).
constexpr std::uint16_t kFirstEphemeral = 32768;
constexpr std::uint16_t kLastEphemeral = 60999;

}  // namespace

std::string Sockets::name_of(const Host& host, std::uint16_t port, int type) const {
  const auto& hosts = supervisor_.world().hosts();
  const auto found = std::find_if(hosts.begin(), hosts.end(),
                                  [&host](const auto& each) { return each.get() == &host; });
  return (type == SOCK_STREAM ? "tcp." : "udp.") + std::to_string(found - hosts.begin()) + "." +
         std::to_string(port);
}

/// The first socket of a port has name_of(), the further ones that with a number behind it.
std::vector<std::string> Sockets::names_at(const Host& host, std::uint16_t port, int type) const {
  const std::string first = name_of(host, port, type);
  std::vector<std::string> names;
  if (inodes_.contains(first)) names.push_back(first);
  for (auto each = inodes_.lower_bound(first + ".");
       each != inodes_.end() && each->first.starts_with(first + "."); ++each)
    names.push_back(each->first);
  return names;
}

bool Sockets::is_open_to(const std::string& name, const Address& address) const {
  const Socket& socket = sockets_.at(inodes_.at(name));
  const Address& local = socket.local;
  if (socket.family == AF_INET && address.family != AF_INET) return false;
  if (socket.family == AF_INET6 && address.family == AF_INET && socket.options.only_ipv6())
    return false;
  if (local.family == AF_UNSPEC || local.is_zero()) return true;
  // To any address means to its own loopback address.
  return address.is_zero() ? local.is_loopback() : local.ip == address.ip;
}

std::string Sockets::hearer_at(const Host& host, const Address& target, const Address& source,
                               int type) const {
  struct Candidate {
    std::string name;
    const Socket* socket;
    int fit;
  };
  std::vector<Candidate> all;
  const auto names = names_at(host, target.port, type);
  for (const std::string& name : names) {
    if (!is_open_to(name, target)) continue;
    const Socket& socket = sockets_.at(inodes_.at(name));
    const bool connected = type == SOCK_DGRAM && socket.peer.family != AF_UNSPEC;
    // A connected socket hears only its peer.
    if (connected && (socket.peer.ip != source.ip || socket.peer.port != source.port)) continue;
    if (type == SOCK_STREAM && !socket.listening) continue;
    // The file stays when a socket is closed. Where only one socket has the port, the attempt to
    // reach it shows that.
    if ((names.size() > 1 || type == SOCK_STREAM) && !files_.is_open(name, type)) continue;
    const bool bound_to_it = socket.local.family != AF_UNSPEC && !socket.local.is_zero();
    const int fit = (connected ? 4 : 0) + (bound_to_it ? 2 : 0) +
                    (socket.family == AF_INET && target.family == AF_INET ? 1 : 0);
    all.push_back({name, &socket, fit});
  }
  if (all.empty()) return {};
  const int best = std::ranges::max(all, {}, &Candidate::fit).fit;
  std::erase_if(all, [best](const Candidate& each) { return each.fit < best; });
  std::ranges::sort(all, {}, [](const Candidate& each) { return each.socket->bound; });
  if (!all.back().socket->reuse_port) return all.back().name;
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a of who sends
  const auto mix = [&hash](unsigned value) { hash = (hash ^ value) * 1099511628211U; };
  for (const std::uint8_t byte : source.ip) mix(byte);
  mix(source.port & 0xff);
  mix(source.port >> 8);
  hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdU;  // so that all bits depend on the port
  return all[(hash >> 33) % all.size()].name;
}

bool Sockets::port_is_held(const Socket& socket, std::uint16_t port) {
  if (socket.type != SOCK_STREAM) return false;
  return streams_.holds(*socket.host, port, socket.reuse_address, [&socket](const Address& local) {
    if (socket.local.family != AF_UNSPEC && !socket.local.is_zero())
      return socket.local.ip == local.ip;
    return local.family == AF_INET ? socket.family == AF_INET || !socket.options.only_ipv6()
                                   : socket.family == AF_INET6;
  });
}

bool Sockets::port_is_taken(const Socket& socket, std::uint16_t port) const {
  const auto is_wild = [](const Socket& each) {
    return each.local.family == AF_UNSPEC || each.local.is_zero();
  };
  const auto hears = [&](const Socket& each, bool version_6) {
    if (!is_wild(each)) return (each.local.family == AF_INET6) == version_6;
    return version_6 ? each.family == AF_INET6
                     : each.family == AF_INET || !each.options.only_ipv6();
  };
  for (const std::string& name : names_at(*socket.host, port, socket.type)) {
    const Socket& other = sockets_.at(inodes_.at(name));
    if (&other == &socket) continue;
    const bool both_wild_or_equal =
        is_wild(socket) || is_wild(other) || socket.local.ip == other.local.ip;
    const bool overlap = both_wild_or_equal && ((hears(socket, false) && hears(other, false)) ||
                                                (hears(socket, true) && hears(other, true)));
    const bool shared = (socket.reuse_port && other.reuse_port) ||
                        (socket.reuse_address && other.reuse_address &&
                         (socket.type == SOCK_DGRAM || !other.listening));
    if (overlap && !shared && files_.is_open(name, socket.type)) return true;
  }
  return false;
}

int Sockets::bind_to(const Descriptor& descriptor, Socket& socket, std::uint16_t port) {
  if (port_is_taken(socket, port)) return EADDRINUSE;
  const std::string first = name_of(*socket.host, port, socket.type);
  std::string name = first;
  for (unsigned number = 1;; ++number) {
    const int error = files_.bind(descriptor, name, socket.type);
    if (error == 0) break;
    if (error != EADDRINUSE) return error;
    name = first + "." + std::to_string(number);
  }
  struct stat about {};
  if (::fstat(descriptor.get(), &about) == 0) inodes_[name] = about.st_ino;
  socket.port = port;
  socket.bound = ++binds_;
  return 0;
}

int Sockets::bind_to_any(const Descriptor& descriptor, Socket& socket) {
  std::uint16_t& next = next_port_.try_emplace(socket.host, kFirstEphemeral).first->second;
  for (unsigned tries = 0; tries <= kLastEphemeral - kFirstEphemeral; ++tries) {
    const std::uint16_t port = next;
    next = port == kLastEphemeral ? kFirstEphemeral : static_cast<std::uint16_t>(port + 1);
    // Linux gives no port that another socket has, also where they could share it.
    const auto names = names_at(*socket.host, port, socket.type);
    if (std::ranges::any_of(
            names, [&](const std::string& name) { return files_.is_open(name, socket.type); }))
      continue;
    if (const int error = bind_to(descriptor, socket, port); error != EADDRINUSE) return error;
  }
  return EADDRINUSE;
}

}  // namespace anyrdma::sim::programs
