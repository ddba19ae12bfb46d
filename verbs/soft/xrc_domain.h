// Extended connection domains: which connections may use which shared receive queues (IBTA vol 1,
// annex A14).
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "verbs/soft/completion_queue.h"

namespace anyrdma::verbs::soft {

/// Which file a domain goes by: its device and inode.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;

/// The flags of ibv_open_xrcd: Linux's O_CREAT and O_EXCL.
inline constexpr int kMakeDomain = 0100;
inline constexpr int kFreshDomain = 0200;

/// Lives as long as it is open.
struct XrcDomain {
  std::optional<FileIdentity> file;  ///< nullopt: no other caller can open it
};

/// The ibv_xrcd of the application. It has no handle member; rdma-core keeps the handle behind it.
/// Used inside the critical section.
struct SoftXrcd : ibv_xrcd, LiveHook {
  static constexpr ObjectKind kKind = ObjectKind::kExtendedDomain;
  Registration registration;
  std::shared_ptr<const XrcDomain> domain;
  unsigned users = 0;  ///< shared receive queues and receiving QPs
};

}  // namespace anyrdma::verbs::soft
