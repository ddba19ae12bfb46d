// The memory layout of completion queues and queue pairs with extended functions: ibv_cq_ex and
// ibv_qp_ex begin like ibv_cq and ibv_qp, and continue with function pointers.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstring>

namespace anyrdma::verbs::soft {

/// A `Plain` struct (such as ibv_qp) followed by the rest of `Extended` (such as ibv_qp_ex).
/// `spare` zero bytes follow, because newer headers have more function pointers, and null means
/// that a function is missing.
template <class Plain, class Extended, std::size_t spare = 0>
struct Extensible : Plain {
  Extensible() : Plain{} {}

  /// Copies the function pointers of `with`. Members that both structs have are unchanged.
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
