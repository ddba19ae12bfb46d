// Checks that an invalidated or deregistered key gives no access. A request that names it and was
// posted later must not succeed, unless the key is in use again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "check/violations.h"
#include "verbs/time.h"

namespace anyrdma::check {

/// The checker for all devices of a run, by their names.
class Keys {
 public:
  explicit Keys(Violations& violations) : violations_(violations) {}

  /// Sets the time of the events that are reported next.
  void set_now(verbs::Instant now) { now_ = now; }
  /// A key that was closed less than this before a request does not count as closed: programs
  /// report a request a moment after it was posted.
  void set_grace(verbs::Duration grace) { grace_ = grace; }

  /// Names a closing of a key; 0: it is open, or its state is unknown.
  using Closing = std::uint64_t;

  void on_opened(const std::string& device, std::uint32_t key) { closed_.erase({device, key}); }
  void on_closed(const std::string& device, std::uint32_t key);
  /// Returns the latest closing of a device's key.
  [[nodiscard]] Closing closing_of(const std::string& device, std::uint32_t key) const;
  /// Work that names the key has succeeded; `posted`: closing_of when it was posted.
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
