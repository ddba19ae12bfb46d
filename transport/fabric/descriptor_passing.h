// Sends and receives messages of a Unix socket that carry file descriptors (SCM_RIGHTS).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::fabric {

/// The largest number of descriptors in one message.
inline constexpr std::size_t kDescriptorsMax = 8;

/// Sends one message with copies of the descriptors. Returns the result of sendmsg: -1 and errno on
/// failure. ETOOMANYREFS: too many descriptors of this user are in flight.
[[nodiscard]] ssize_t send_message(int socket, std::span<const std::uint8_t> bytes,
                                   std::span<const int> descriptors);

/// One received message.
struct ReceivedMessage {
  ssize_t size = -1;       ///< the result of recvmsg: -1 and errno on failure, 0 at the end
  bool truncated = false;  ///< the message was longer than the buffer

  /// The received descriptors; fewer than were sent if the process has reached its limit.
  std::vector<realtime::Descriptor> descriptors;
};
/// Receives the next message without waiting. The descriptors are close-on-exec.
[[nodiscard]] ReceivedMessage receive_message(int socket, std::span<std::uint8_t> bytes);

}  // namespace anyrdma::transport::fabric
