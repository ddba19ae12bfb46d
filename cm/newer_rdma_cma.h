// Constants of <rdma/rdma_cma.h> that rdma-core added after version 44, which Debian 12 has. The
// numbers are those of rdma-core 65. The names are this library's, so a build with newer headers
// may contain both.
#pragma once

namespace anyrdma::cm {

// Values of rdma_cm_event_type. For kUserEvent, rdma_cm_event::param has a third member of 64 bits,
// `arg`.
inline constexpr int kAddrinfoResolvedEvent = 16;  ///< RDMA_CM_EVENT_ADDRINFO_RESOLVED
inline constexpr int kAddrinfoErrorEvent = 17;     ///< RDMA_CM_EVENT_ADDRINFO_ERROR
inline constexpr int kUserEvent = 18;              ///< RDMA_CM_EVENT_USER

// Values of rdma_addrinfo::ai_flags, of which at most one may be set.
inline constexpr int kRaiSa = 0x10;  ///< RAI_SA: ask InfiniBand's subnet administrator

/// RAI_DNS: ask the system's resolver, as when neither flag is set.
inline constexpr int kRaiDns = 0x20;

}  // namespace anyrdma::cm
