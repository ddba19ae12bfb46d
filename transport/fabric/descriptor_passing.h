// Messages of a Unix socket with descriptors along (SCM_RIGHTS).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::fabric {

/// So many at most go along with one message.
inline constexpr std::size_t kDescriptorsMax = 8;

/// Sends one message; the descriptors stay the caller's. Returns what sendmsg does: -1 and errno;
/// ETOOMANYREFS when too many descriptors of this user are on their way.
[[nodiscard]] ssize_t send_message(int socket, std::span<const std::uint8_t> bytes,
                                   std::span<const int> descriptors);

/// One message that was received.
struct ReceivedMessage {
  ssize_t size = -1;       ///< as recvmsg: -1 and errno; 0 at the end
  bool truncated = false;  ///< it was longer than the buffer
  /// Fewer than were sent when the process has no room for them.
  std::vector<realtime::Descriptor> descriptors;
};
/// Takes the next message without waiting for it. The descriptors are closed on exec.
[[nodiscard]] ReceivedMessage receive_message(int socket, std::span<std::uint8_t> bytes);

}  // namespace anyrdma::transport::fabric
