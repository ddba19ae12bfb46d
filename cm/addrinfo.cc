#include "cm/addrinfo.h"

#include <endian.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "cm/newer_rdma_cma.h"

namespace anyrdma::cm {
namespace {

constexpr std::uint16_t kDefaultPkey = 0xffff;
constexpr std::uint64_t kPortSpaceMask = 0xffffffffffff0000;
constexpr std::uint64_t kPortMask = 0xffff;

struct FreeSystem {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};
using SystemInfo = std::unique_ptr<addrinfo, FreeSystem>;

class AddrinfoCategory final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "getaddrinfo"; }
  [[nodiscard]] std::string message(int value) const override { return gai_strerror(value); }
};

/// One side of an answer.
struct Side {
  sockaddr*& address;
  socklen_t& length;
  char*& name;
};

Side side_of(rdma_addrinfo& info, bool passive) {
  if (passive) return {info.ai_src_addr, info.ai_src_len, info.ai_src_canonname};
  return {info.ai_dst_addr, info.ai_dst_len, info.ai_dst_canonname};
}

Result<void> copy(sockaddr*& to, socklen_t& to_length, const void* from, socklen_t length) {
  to = static_cast<sockaddr*>(std::calloc(1, length));
  if (to == nullptr) return verbs::errno_code(ENOMEM);
  std::memcpy(to, from, length);
  to_length = length;
  return {};
}

/// The 16 bytes of an IPv6 text are a GID.
sockaddr_ib infiniband_address(const sockaddr_in6& from, int space) {
  sockaddr_ib address{};
  address.sib_family = AF_IB;
  address.sib_pkey = htobe16(kDefaultPkey);
  address.sib_flowinfo = from.sin6_flowinfo;
  std::memcpy(&address.sib_addr, &from.sin6_addr, sizeof address.sib_addr);
  const std::uint64_t port = be16toh(from.sin6_port);
  address.sib_sid = htobe64((static_cast<std::uint64_t>(space) << 16) + port);
  address.sib_sid_mask = htobe64((space != 0 ? kPortSpaceMask : 0) | (port != 0 ? kPortMask : 0));
  address.sib_scope_id = from.sin6_scope_id;
  return address;
}

int socket_type(const rdma_addrinfo& hints) {
  switch (hints.ai_qp_type) {  // foreign enum
    case IBV_QPT_RC:
    case IBV_QPT_UC:
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
      return SOCK_STREAM;
    case IBV_QPT_UD:
      return SOCK_DGRAM;
  }
  return 0;
}

int protocol(const rdma_addrinfo& hints, int type) {
  switch (hints.ai_port_space) {  // foreign enum
    case RDMA_PS_TCP:
      return IPPROTO_TCP;
    case RDMA_PS_IPOIB:
    case RDMA_PS_UDP:
      return IPPROTO_UDP;
    case RDMA_PS_IB:
      return type == SOCK_STREAM ? IPPROTO_TCP : type == SOCK_DGRAM ? IPPROTO_UDP : 0;
  }
  return 0;
}

bool wants_infiniband(const rdma_addrinfo& hints) {
  constexpr int kBoth = RAI_FAMILY | RAI_NUMERICHOST;
  return (hints.ai_flags & kBoth) == kBoth && hints.ai_family == AF_IB;
}

addrinfo system_hints(const rdma_addrinfo& hints) {
  addrinfo system{};
  if ((hints.ai_flags & RAI_PASSIVE) != 0) system.ai_flags |= AI_PASSIVE;
  if ((hints.ai_flags & RAI_NUMERICHOST) != 0) system.ai_flags |= AI_NUMERICHOST;
  if (hints.ai_family != AF_IB) system.ai_family = hints.ai_family;
  if (wants_infiniband(hints)) system.ai_family = AF_INET6;  // librdmacm misreads other texts
  system.ai_socktype = socket_type(hints);
  system.ai_protocol = protocol(hints, system.ai_socktype);
  return system;
}

Result<void> take_answer(rdma_addrinfo& info, const addrinfo& answer, const rdma_addrinfo& hints) {
  const bool datagrams = answer.ai_socktype == SOCK_DGRAM;
  info.ai_qp_type = hints.ai_qp_type;
  if (info.ai_qp_type == 0) info.ai_qp_type = datagrams ? IBV_QPT_UD : IBV_QPT_RC;
  info.ai_port_space = hints.ai_port_space;
  if (info.ai_port_space == 0) {
    info.ai_port_space = answer.ai_protocol == IPPROTO_UDP ? RDMA_PS_UDP : RDMA_PS_TCP;
  }
  const bool passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  if (passive) info.ai_flags = RAI_PASSIVE;
  const Side side = side_of(info, passive);
  if (answer.ai_canonname != nullptr) side.name = strdup(answer.ai_canonname);
  if (!wants_infiniband(hints)) {
    info.ai_family = answer.ai_family;
    return copy(side.address, side.length, answer.ai_addr, answer.ai_addrlen);
  }
  info.ai_family = AF_IB;
  const sockaddr_ib address = infiniband_address(
      *reinterpret_cast<const sockaddr_in6*>(answer.ai_addr), info.ai_port_space);
  return copy(side.address, side.length, &address, sizeof address);
}

Result<void> ask_system(rdma_addrinfo& info, const char* node, const char* service,
                        const rdma_addrinfo& hints) {
  const addrinfo wanted = system_hints(hints);
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(node, service, &wanted, &found); error != 0) {
    return boost::system::error_code(error, addrinfo_category());
  }
  const SystemInfo answer(found);
  return take_answer(info, *answer, hints);
}

/// Without a name to look up, the hints are the answer.
Result<void> take_hints(rdma_addrinfo& info, const rdma_addrinfo& hints) {
  info.ai_flags = hints.ai_flags;
  info.ai_family = hints.ai_family;
  info.ai_qp_type = hints.ai_qp_type;
  info.ai_port_space = hints.ai_port_space;
  if (hints.ai_dst_len == 0 || hints.ai_dst_addr == nullptr) return {};
  return copy(info.ai_dst_addr, info.ai_dst_len, hints.ai_dst_addr, hints.ai_dst_len);
}

/// librdmacm asks every InfiniBand port for its subnet's administrator.
Result<void> refuse_administrator(const char* node, const char* service, int flags) {
  if (node != nullptr || (flags & kRaiDns) != 0) return verbs::errno_code(EOPNOTSUPP);
  return verbs::errno_code(service == nullptr ? EINVAL : ENOENT);
}

}  // namespace

void FreeAddrinfo::operator()(rdma_addrinfo* info) const {
  while (info != nullptr) {
    rdma_addrinfo* next = info->ai_next;
    for (void* part : {info->ai_connect, info->ai_route}) std::free(part);
    for (char* name : {info->ai_src_canonname, info->ai_dst_canonname}) std::free(name);
    for (sockaddr* address : {info->ai_src_addr, info->ai_dst_addr}) std::free(address);
    std::free(info);
    info = next;
  }
}

const boost::system::error_category& addrinfo_category() {
  static const AddrinfoCategory category;
  return category;
}

Result<Addrinfo> resolve_addrinfo(const char* node, const char* service,
                                  const rdma_addrinfo* hints) {
  if (node == nullptr && service == nullptr && hints == nullptr) return verbs::errno_code(EINVAL);
  const rdma_addrinfo none{};
  const rdma_addrinfo& wanted = hints == nullptr ? none : *hints;
  if ((wanted.ai_flags & kRaiSa) != 0) {
    return refuse_administrator(node, service, wanted.ai_flags).error();
  }
  Addrinfo info(static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))));
  if (info == nullptr) return verbs::errno_code(ENOMEM);
  Result<void> found = node != nullptr || service != nullptr
                           ? ask_system(*info, node, service, wanted)
                           : take_hints(*info, wanted);
  if (!found) return found.error();
  if (info->ai_src_len == 0 && wanted.ai_src_len != 0 && wanted.ai_src_addr != nullptr) {
    Result<void> copied =
        copy(info->ai_src_addr, info->ai_src_len, wanted.ai_src_addr, wanted.ai_src_len);
    if (!copied) return copied.error();
  }
  return info;
}

}  // namespace anyrdma::cm
