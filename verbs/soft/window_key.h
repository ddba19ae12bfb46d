// The bits of a memory window's key that the application chooses.
#pragma once

#include <cstdint>

namespace anyrdma::verbs::soft {

/// Returns the key of a window after a bind request with the key `wanted`: the low byte of
/// `wanted`, and the upper bits of the window's own key. The upper bits of `wanted` are ignored
/// (IBTA vol 1, 10.6.7.2), as by Linux's rxe_do_bind_mw and by mlx5's set_bind_wr.
[[nodiscard]] constexpr std::uint32_t bound_key(std::uint32_t window, std::uint32_t wanted) {
  return (window & ~std::uint32_t{0xff}) | (wanted & 0xff);
}

}  // namespace anyrdma::verbs::soft
