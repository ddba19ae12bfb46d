// Checks the numbers of an entry that are enumerators of librdmacm or libibverbs. A process or a
// file may contain any number; only a valid number may be converted to the enumeration.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>

#include "recording/entry.h"

namespace anyrdma::recording {

inline constexpr std::uint64_t kLastCmEvent = RDMA_CM_EVENT_TIMEWAIT_EXIT;

/// Whether each number of the entry that is an enumerator is valid: the events of kQueued and
/// kFetched, the queue pair type of kOpened, the MTU of kPath, the status of kCompleted.
[[nodiscard]] constexpr bool has_known_enumerators(const Entry& entry) {
  const auto& n = entry.numbers;
  switch (entry.kind) {
    case EntryKind::kQueued:
      return n[3] <= kLastCmEvent;
    case EntryKind::kFetched:
      return n[2] <= kLastCmEvent;
    case EntryKind::kOpened:
      return n[2] <= IBV_QPT_DRIVER;
    case EntryKind::kPath:
      return n[5] <= IBV_MTU_4096;
    case EntryKind::kCompleted:
      return n[4] <= IBV_WC_TM_RNDV_INCOMPLETE;
    default:
      return true;
  }
}

}  // namespace anyrdma::recording
