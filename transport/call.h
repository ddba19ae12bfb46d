// Names the calls on an id that the kernel may refuse. Observers and fault plans use the names, and
// transport/soft has one rule for each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace anyrdma::transport {

/// The calls on an id. Where the kernel's rule depends on an argument, such as the option
/// REUSEADDR, each case of the argument has a value of its own.
enum class Call : std::uint8_t {
  kBind,
  kResolveAddr,
  kResolveRoute,
  kListen,
  kConnect,
  kEstablish,
  kAccept,
  kReject,
  kDisconnect,
  kNotify,
  kJoinMulticast,
  kLeaveMulticast,
  kInitQpAttr,
  kSetTos,
  kSetReuseAddr,
  kClearReuseAddr,
  kSetAfOnly,
  kSetAckTimeout,
  kSetIbPath,
  /// Queries of addresses and paths, and other calls that every state allows until the device is
  /// removed.
  kQuery,
};
inline constexpr std::size_t kCallCount = 20;

/// Returns the C call without its rdma_ prefix: "bind_addr", "set_option(ID, TOS)".
[[nodiscard]] std::string_view to_string(Call call);

/// Returns the call for an option of rdma_set_option(). Nothing: no such option exists.
[[nodiscard]] std::optional<Call> call_of_option(int level, int option,
                                                 std::span<const std::uint8_t> value);

}  // namespace anyrdma::transport
