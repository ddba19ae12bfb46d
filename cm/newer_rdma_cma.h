// Declarations of <rdma/rdma_cma.h> since rdma-core 60 that Debian 12's (44) lacks. Numbers are
// those of rdma-core 65; the names are ours, so that a build with newer headers has both.
#pragma once

namespace anyrdma::cm {

// enum rdma_cm_event_type. rdma_cm_event::param has a third member for kUserEvent, of 64 bits:
// `arg`.
inline constexpr int kAddrinfoResolvedEvent = 16;  ///< RDMA_CM_EVENT_ADDRINFO_RESOLVED
inline constexpr int kAddrinfoErrorEvent = 17;     ///< RDMA_CM_EVENT_ADDRINFO_ERROR
inline constexpr int kUserEvent = 18;              ///< RDMA_CM_EVENT_USER

// rdma_addrinfo::ai_flags, at most one of them.
inline constexpr int kRaiSa = 0x10;   ///< RAI_SA: ask InfiniBand's subnet administrator
inline constexpr int kRaiDns = 0x20;  ///< RAI_DNS: ask the system's resolver, as without both

}  // namespace anyrdma::cm
