// The checker of memory keys that were invalidated or deregistered. A request that names such a key
// and was posted after that must not succeed, unless the key has been registered again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "check/violations.h"
#include "verbs/time.h"

namespace anyrdma::check {

/// Records when each memory key of each device became invalid. Devices are identified by name.
class Keys {
 public:
  explicit Keys(Violations& violations) : violations_(violations) {}

  /// Sets the time of the events that are reported next.
  void set_now(verbs::Instant now) { now_ = now; }
  /// Sets the time by which a key must have been closed before a request, to count as closed. It is
  /// needed because programs report a request a moment after they posted it.
  void set_grace(verbs::Duration grace) { grace_ = grace; }

  /// The number of one closing (invalidation or deregistration) of a key. 0: the key is valid, or
  /// its state is unknown.
  using Closing = std::uint64_t;

  void on_opened(const std::string& device, std::uint32_t key) { closed_.erase({device, key}); }
  void on_closed(const std::string& device, std::uint32_t key);
  /// Returns the number of the latest closing of a device's memory key; 0: none.
  [[nodiscard]] Closing closing_of(const std::string& device, std::uint32_t key) const;
  /// Call when a request that names the key has succeeded. `posted` is the result of closing_of()
  /// when the request was posted.
  void on_success(const std::string& qp, const std::string& device, std::uint32_t key,
                  Closing posted);

 private:
  Violations& violations_;
  struct Closed {
    Closing closing = 0;
    verbs::Instant at{};
  };
  std::map<std::pair<std::string, std::uint32_t>, Closed> closed_;
  verbs::Instant now_{};
  verbs::Duration grace_{};
  Closing closings_ = 0;
};

}  // namespace anyrdma::check
