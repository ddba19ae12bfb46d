// The calls on an id that the kernel decides about, by name: what observers and faults speak of,
// and what transport/soft has a rule for each of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace anyrdma::transport {

/// Where the argument matters as well (REUSEADDR), one per case.
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
  kQuery,  ///< addresses and paths, and whatever else any id answers that is still there
};
inline constexpr std::size_t kCallCount = 20;

/// "bind_addr", "set_option(ID, TOS)": the C call without its rdma_ prefix.
[[nodiscard]] std::string_view to_string(Call call);

/// Which call rdma_set_option() is; nothing: an option that there is not.
[[nodiscard]] std::optional<Call> call_of_option(int level, int option,
                                                 std::span<const std::uint8_t> value);

}  // namespace anyrdma::transport
