// The calls as this binary has them: the system's libraries, or our doors, whichever it is linked
// with. Include it only where something is.
#pragma once

#include "tests/conformance/calls.h"

namespace anyrdma::conformance {

[[nodiscard]] inline const Calls& linked_calls() {
#define CONFORMANCE_ENTRY(NAME, VERSION) .NAME = &::rdma_##NAME,
  static const Calls kCalls = {
      .cm = {CONFORMANCE_CM_CALLS(CONFORMANCE_ENTRY)},
#undef CONFORMANCE_ENTRY
#define CONFORMANCE_ENTRY(NAME, VERSION) .NAME = &::ibv_##NAME,
      .verbs = {CONFORMANCE_VERBS_CALLS(CONFORMANCE_ENTRY).query_gid_ex = &::_ibv_query_gid_ex},
#undef CONFORMANCE_ENTRY
      .errno_location = &::__errno_location,
  };
  return kCalls;
}

}  // namespace anyrdma::conformance
