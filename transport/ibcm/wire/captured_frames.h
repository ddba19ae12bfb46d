// Frames captured between two Linux machines (kernel 6.1, Soft-RoCE): the MADs alone, trailing
// zeros left out. The names say which packet of which capture under tests/data/captures.
#pragma once

#include <array>
#include <string_view>

#include "transport/ibcm/wire/mad_header.h"

namespace anyrdma::ibcm::wire::testing {

using Mad = std::array<std::uint8_t, kMadSize>;

// reject-then-accept, packet 5
inline constexpr std::string_view kReqFrame =
    "010702030000000000000002592d3347001000000000000047332d59000000000000000001061e6e505400ff"
    "fe00000200000000000000000000120300000004000000a0e6ce51a6ffff35f0ffffffff0000000000000000"
    "0000ffff0a09000200000000000000000000ffff0a090001238b000000400098000000000000000000000000"
    "00000000000000000000000000000000000000000000000000000000000000000040957e0000000000000000"
    "000000000a0900020000000000000000000000000a09000168656c6c6f";

// reject-then-accept, packet 4
inline constexpr std::string_view kRejByUserFrame =
    "010702030000000000000002592d334600120000000000000c8e0fca46332d590000001c0000000000000000"
    "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000676f2061776179";

// reject-then-accept, packet 6
inline constexpr std::string_view kRepFrame =
    "010702030000000000000002592d334700130000000000000f8e0fca47332d59000000000000110000000000"
    "34cdbf0002017800505400fffe00000177656c636f6d65";

// reject-then-accept, packet 7
inline constexpr std::string_view kRtuFrame =
    "010702030000000000000002592d3347001400000000000047332d590f8e0fca";

// reject-then-accept, packet 8
inline constexpr std::string_view kDreqFrame =
    "010702030000000000000002592d3347001500000000000047332d590f8e0fca000011";

// reject-then-accept, packet 9
inline constexpr std::string_view kDrepFrame =
    "010702030000000000000002592d334700160000000000000f8e0fca47332d59";

// slow-accept-mra, packet 7
inline constexpr std::string_view kMraFrame =
    "010702030000000000000002592d33450011000000000000088e0fca45332d5900c0";

// no-listener, packet 2
inline constexpr std::string_view kRejNoListenerFrame =
    "010702030000000000000002b46089a5001200000000000000000000a58960b400000008";

// reject-then-client-killed, packet 5
inline constexpr std::string_view kRejByKilledFrame =
    "010702030000000000000002b46089a70012000000000000a78960b475e42c334000001c";

// udaddy, packet 1
inline constexpr std::string_view kSidrReqFrame =
    "010702030000000000000002b46089a20017000000000000a28960b4ffff00000000000001111c060040e04e"
    "0000000000000000000000000a0900020000000000000000000000000a090001";

// udaddy, packet 2
inline constexpr std::string_view kSidrRepFrame =
    "010702030000000000000002b46089a20018000000000000a28960b400000000000014000000000001111c06"
    "01234567";

[[nodiscard]] constexpr std::uint8_t hex_digit(char c) {
  return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

/// The MAD whose leading bytes are written as `hex`.
[[nodiscard]] constexpr Mad mad_of(std::string_view hex) {
  Mad mad{};
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    mad[i / 2] = static_cast<std::uint8_t>(hex_digit(hex[i]) << 4 | hex_digit(hex[i + 1]));
  return mad;
}

/// `mad` with one byte replaced.
[[nodiscard]] constexpr Mad with_byte(Mad mad, std::size_t at, std::uint8_t byte) {
  mad[at] = byte;
  return mad;
}

/// The bytes a message serializes to.
template <class Message>
[[nodiscard]] Mad bytes_of(const Message& message) {
  Mad mad;
  mad.fill(0xee);
  message.serialize(mad);
  return mad;
}

}  // namespace anyrdma::ibcm::wire::testing
