// Extended connection (XRC) domains. A domain determines which connections may use which shared
// receive queues (IBTA vol 1, annex A14).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "verbs/soft/completion_queue.h"

namespace anyrdma::verbs::soft {

/// Identifies the file of a domain by device and inode.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

/// Flags of ibv_open_xrcd, with the values of Linux's O_CREAT and O_EXCL.
inline constexpr int kMakeDomain = 0100;
inline constexpr int kFreshDomain = 0200;

/// A domain. It exists while it is open.
struct XrcDomain {
  std::optional<FileIdentity> file;  ///< nullopt: no other caller can open it
};

/// The object behind the application's ibv_xrcd. That struct has no handle member; rdma-core keeps
/// the handle in memory behind the struct. Used inside the runtime's critical section.
struct SoftXrcd : ibv_xrcd, LiveHook {
  static constexpr ObjectKind kKind = ObjectKind::kExtendedDomain;
  Registration registration;
  std::shared_ptr<const XrcDomain> domain;
  unsigned users = 0;  ///< shared receive queues and receiving QPs
};

}  // namespace anyrdma::verbs::soft
