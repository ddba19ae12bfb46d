// The state of a socket that decides how reads and writes of its descriptor wait and fail.
#pragma once

#include <optional>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Implemented by Sockets (sim/programs/net). A descriptor that is no socket is allowed everywhere.
class SocketState {
 public:
  virtual ~SocketState() = default;

  /// Whether a write is accepted and lost: the first write to a connection within the host after
  /// the peer has closed it. Only the reset that answers this write reports the close.
  [[nodiscard]] virtual bool loses(const Descriptor& descriptor) = 0;
  /// Returns the errno of the next write if no data can be written any more and the program has not
  /// got this error yet; else 0.
  [[nodiscard]] virtual int take_failure(const Descriptor& descriptor) = 0;
  /// Returns until when a call on a socket may wait. nullopt: without limit. `option`: SO_RCVTIMEO
  /// or SO_SNDTIMEO.
  [[nodiscard]] virtual std::optional<Instant> deadline_of(const Thread& thread,
                                                           const Descriptor& descriptor,
                                                           int option) const = 0;
};

}  // namespace anyrdma::sim::programs
