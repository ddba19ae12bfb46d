// A script against two devices that exchange datagrams, alone and in a group: forged and damaged
// packets among real ones, posts and state changes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::verbs::soft::fuzz {

/// Whatever arrives: memory outside of the registered region stays as it is, every request
/// completes at most once and in order, and what was received says no more bytes than there was
/// room for. Always returns 0; asserts.
int fuzz_datagram(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::verbs::soft::fuzz
