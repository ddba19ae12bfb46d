// A script against two connected devices: forged and damaged packets among real ones, lost packets,
// timers, posts and state changes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::verbs::soft::fuzz {

/// The first byte picks the state and the service of the attacked QP. Whatever arrives: memory
/// outside of the registered region stays as it is, and every request completes at most once, in
/// order. Always returns 0; asserts.
int fuzz_connection(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::verbs::soft::fuzz
