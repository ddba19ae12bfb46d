// The calls on an id that the kernel may refuse, by name. Observers and fault plans use the names;
// transport/soft has one rule for each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace anyrdma::transport {

/// The calls on an id. If the rule depends on an argument (an option such as REUSEADDR), each case
/// is a value.
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
  /// Queries of addresses and paths, and other calls that are allowed in every state until the
  /// device is removed.
  kQuery,
};
inline constexpr std::size_t kCallCount = 20;

/// Returns the C call without its rdma_ prefix: "bind_addr", "set_option(ID, TOS)".
[[nodiscard]] std::string_view to_string(Call call);

/// Returns the call for an option of rdma_set_option(); nothing: no such option.
[[nodiscard]] std::optional<Call> call_of_option(int level, int option,
                                                 std::span<const std::uint8_t> value);

}  // namespace anyrdma::transport
