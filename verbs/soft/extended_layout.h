// Completion queues and queue pairs as the application sees them when it asked for their extended
// functions: ibv_cq_ex and ibv_qp_ex begin like ibv_cq and ibv_qp, and go on with the functions.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstring>

namespace anyrdma::verbs::soft {

/// A `Plain` that is followed by what makes it an `Extended`. `spare` bytes of zeros follow: later
/// headers have more functions, and null says that they are not there.
template <class Plain, class Extended, std::size_t spare = 0>
struct Extensible : Plain {
  Extensible() : Plain{} {}

  /// Gives it the functions of `with`; what both have in common stays.
  void extend(const Extended& with) {
    std::memcpy(extension, reinterpret_cast<const std::byte*>(&with) + sizeof(Plain),
                sizeof with - sizeof(Plain));
  }

  alignas(8) std::byte extension[sizeof(Extended) - sizeof(Plain) + spare] = {};
};

using ExtensibleCq = Extensible<ibv_cq, ibv_cq_ex>;
using ExtensibleQp = Extensible<ibv_qp, ibv_qp_ex, 16>;

static_assert(offsetof(ibv_cq_ex, comp_mask) == sizeof(ibv_cq));
static_assert(offsetof(ibv_qp_ex, comp_mask) == sizeof(ibv_qp));

}  // namespace anyrdma::verbs::soft
