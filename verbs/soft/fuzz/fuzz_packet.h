// Any bytes as an Ethernet frame, as a RoCEv2 payload, as a routing header and as a capture file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::verbs::soft::fuzz {

/// What is read must be written back to the same bytes, reserved bits apart. Always returns 0;
/// asserts.
int fuzz_packet(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::verbs::soft::fuzz
