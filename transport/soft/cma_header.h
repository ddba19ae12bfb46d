// The header with which the private data of Linux's REQ begins. It has the IP addresses of both
// sides. Source: IBTA annex A11, "RDMA IP CM service"; kernel: struct cma_hdr.
#pragma once

#include <array>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "transport/soft/address.h"
#include "verbs/result.h"
#include "verbs/wire/layout.h"

namespace anyrdma::transport::soft {

/// The reason why the header of a request is refused. The peer gets a REJ.
enum class HeaderErrc {
  kLength = 1,  ///< shorter than the header
  kVersion,     ///< header version is not 0
  kIpVersion,   ///< neither IPv4 nor IPv6
};

/// The error category of HeaderErrc. Its messages are for traces.
[[nodiscard]] const boost::system::error_category& header_category();
[[nodiscard]] inline boost::system::error_code make_error_code(HeaderErrc error) {
  return {static_cast<int>(error), header_category()};
}

/// The content of the header. Both addresses are of one family. The destination's port is in the
/// request's service id, not here.
struct CmaHeader {
  static constexpr std::size_t kSize = 36;

  Address source{};
  Address destination{};  ///< with port 0

  bool operator==(const CmaHeader&) const = default;

  /// Parses the header in the first kSize bytes. The scopes of link-local addresses are not
  /// transmitted, so they are 0.
  [[nodiscard]] static verbs::Result<CmaHeader> parse(std::span<const std::uint8_t> bytes);
  void serialize(std::span<std::uint8_t, kSize> bytes) const;
};

/// The layout of the kernel's struct cma_hdr. An IPv4 address is in the last four of 16 bytes; the
/// other bytes are zero.
namespace cma_layout {
inline constexpr wire::Field kVersion{0, 0, 8};
inline constexpr wire::Field kIpVersion{1, 0, 4};
inline constexpr wire::Field kReserved{1, 4, 4};
inline constexpr wire::Field kSourcePort{2, 0, 16};
inline constexpr wire::Field kSource{4, 0, 128};
inline constexpr wire::Field kDestination{20, 0, 128};
inline constexpr std::array kRows{kVersion,    kIpVersion, kReserved,
                                  kSourcePort, kSource,    kDestination};
static_assert(wire::tiles(kRows, CmaHeader::kSize));
}  // namespace cma_layout

/// Fuzz target: parses any bytes, and checks that what was parsed is equal after serializing and
/// parsing it again. Returns 0.
int fuzz_cma_header(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::transport::soft

template <>
struct boost::system::is_error_code_enum<anyrdma::transport::soft::HeaderErrc> : std::true_type {};
