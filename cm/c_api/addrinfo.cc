// rdma_getaddrinfo: the system's name resolution, in RDMA's words (rdma_getaddrinfo(3)).
#include <netdb.h>
#include <rdma/rdma_cma.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

namespace anyrdma::c_api {
namespace {

struct FreeRdma {
  void operator()(rdma_addrinfo* info) const { rdma_freeaddrinfo(info); }
};
using RdmaInfo = std::unique_ptr<rdma_addrinfo, FreeRdma>;

struct FreeSystem {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};
using SystemInfo = std::unique_ptr<addrinfo, FreeSystem>;

/// 0, -1 with errno set, or what getaddrinfo(3) returned.
int no_memory() {
  return fail(ENOMEM);
}

int copy(sockaddr*& to, socklen_t& to_length, const sockaddr* from, socklen_t length) {
  to = static_cast<sockaddr*>(std::calloc(1, length));
  if (to == nullptr) return no_memory();
  std::memcpy(to, from, length);
  to_length = length;
  return 0;
}

int copy(char*& to, const char* from) {
  if (from == nullptr) return 0;
  to = strdup(from);
  return to == nullptr ? no_memory() : 0;
}

int socket_type(const rdma_addrinfo& hints) {
  switch (hints.ai_qp_type) {
    case IBV_QPT_RC:
    case IBV_QPT_UC:
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
      return SOCK_STREAM;
    case IBV_QPT_UD:
      return SOCK_DGRAM;
  }
  switch (hints.ai_port_space) {
    case RDMA_PS_IB:
    case RDMA_PS_UDP:
    case RDMA_PS_IPOIB:
      return SOCK_DGRAM;
  }
  return SOCK_STREAM;
}

addrinfo system_hints(const rdma_addrinfo& hints) {
  addrinfo system{};
  if ((hints.ai_flags & RAI_PASSIVE) != 0) system.ai_flags |= AI_PASSIVE;
  if ((hints.ai_flags & RAI_NUMERICHOST) != 0) system.ai_flags |= AI_NUMERICHOST;
  system.ai_family = hints.ai_family;
  system.ai_socktype = socket_type(hints);
  return system;
}

/// Only the first of the system's answers counts, as in librdmacm.
int take_answer(rdma_addrinfo& result, const addrinfo& answer, const rdma_addrinfo& hints) {
  const bool datagrams = answer.ai_socktype == SOCK_DGRAM;
  result.ai_family = answer.ai_family;
  result.ai_qp_type = hints.ai_qp_type;
  if (result.ai_qp_type == 0) result.ai_qp_type = datagrams ? IBV_QPT_UD : IBV_QPT_RC;
  result.ai_port_space = hints.ai_port_space;
  if (result.ai_port_space == 0) result.ai_port_space = datagrams ? RDMA_PS_UDP : RDMA_PS_TCP;
  if ((hints.ai_flags & RAI_PASSIVE) != 0) {
    result.ai_flags = RAI_PASSIVE;
    const int error = copy(result.ai_src_canonname, answer.ai_canonname);
    return error != 0
               ? error
               : copy(result.ai_src_addr, result.ai_src_len, answer.ai_addr, answer.ai_addrlen);
  }
  const int error = copy(result.ai_dst_canonname, answer.ai_canonname);
  return error != 0
             ? error
             : copy(result.ai_dst_addr, result.ai_dst_len, answer.ai_addr, answer.ai_addrlen);
}

int ask_system(rdma_addrinfo& result, const char* node, const char* service,
               const rdma_addrinfo& hints) {
  const addrinfo wanted = system_hints(hints);
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(node, service, &wanted, &found); error != 0) return error;
  const SystemInfo answer(found);
  return take_answer(result, *answer, hints);
}

/// Without a name to look up, the hints are the answer.
void take_hints(rdma_addrinfo& result, const rdma_addrinfo& hints) {
  result.ai_flags = hints.ai_flags;
  result.ai_family = hints.ai_family;
  result.ai_qp_type = hints.ai_qp_type;
  result.ai_port_space = hints.ai_port_space;
}

int take_hinted_addresses(rdma_addrinfo& result, const rdma_addrinfo& hints) {
  if (result.ai_src_len == 0 && hints.ai_src_len != 0 && hints.ai_src_addr != nullptr) {
    const int error =
        copy(result.ai_src_addr, result.ai_src_len, hints.ai_src_addr, hints.ai_src_len);
    if (error != 0) return error;
  }
  if (result.ai_dst_len == 0 && hints.ai_dst_len != 0 && hints.ai_dst_addr != nullptr) {
    return copy(result.ai_dst_addr, result.ai_dst_len, hints.ai_dst_addr, hints.ai_dst_len);
  }
  return 0;
}

int resolve(const char* node, const char* service, const rdma_addrinfo* hints,
            rdma_addrinfo** result) {
  const rdma_addrinfo none{};
  const rdma_addrinfo& wanted = hints == nullptr ? none : *hints;
  RdmaInfo info(static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo))));
  if (info == nullptr) return no_memory();
  if (node != nullptr || service != nullptr) {
    if (const int error = ask_system(*info, node, service, wanted); error != 0) return error;
  } else {
    take_hints(*info, wanted);
  }
  if (const int error = take_hinted_addresses(*info, wanted); error != 0) return error;
  *result = info.release();
  return 0;
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                     rdma_addrinfo** res) {
  if (res == nullptr || (node == nullptr && service == nullptr && hints == nullptr)) {
    return fail(EINVAL);
  }
  // As with librdmacm, nothing is resolved where there is no device to reach it with.
  const auto transport = guarded([] { return process_transport(); });
  if (!transport) return fail(transport.error().value());
  return resolve(node, service, hints, res);
}

void rdma_freeaddrinfo(rdma_addrinfo* res) {
  while (res != nullptr) {
    rdma_addrinfo* next = res->ai_next;
    std::free(res->ai_connect);
    std::free(res->ai_route);
    std::free(res->ai_src_canonname);
    std::free(res->ai_dst_canonname);
    std::free(res->ai_src_addr);
    std::free(res->ai_dst_addr);
    std::free(res);
    res = next;
  }
}

}  // extern "C"
