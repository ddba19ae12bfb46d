// Whose choice the bits of a memory window's key are.
#pragma once

#include <cstdint>

namespace anyrdma::verbs::soft {

/// The key of a window that is bound with `wanted`: the low byte is the consumer's, the rest stays
/// the device's, whatever is wanted there (IBTA vol 1, 10.6.7.2; rxe_do_bind_mw and mlx5's
/// set_bind_wr look at no more of it either).
[[nodiscard]] constexpr std::uint32_t bound_key(std::uint32_t window, std::uint32_t wanted) {
  return (window & ~std::uint32_t{0xff}) | (wanted & 0xff);
}

}  // namespace anyrdma::verbs::soft
