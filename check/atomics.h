// The checker of atomic operations. Each operation must be executed exactly once, and each response
// must carry the value that the memory had before.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "check/stream.h"
#include "check/violations.h"

namespace anyrdma::check {

/// Compares requests and responses of atomic operations, for each stream from a requester to a
/// responder.
class Atomics {
 public:
  explicit Atomics(Violations& violations) : violations_(violations) {}

  void on_done(const Stream& stream, std::uint32_t psn, std::uint64_t original);
  void on_answer(const Stream& stream, std::uint32_t psn, std::uint64_t original);
  /// Call when the stream has ended. A later stream may have the same name.
  void on_end(const Stream& stream) { done_.erase(stream); }

 private:
  struct Done {
    std::uint32_t psn;
    std::uint64_t original;
  };
  /// The number of operations that are kept for each stream. Older operations cannot be repeated
  /// any more, and their PSNs are reused.
  static constexpr std::size_t kRemembered = 256;
  [[nodiscard]] const Done* find(const Stream& stream, std::uint32_t psn) const;

  Violations& violations_;
  std::map<Stream, std::deque<Done>> done_;
};

}  // namespace anyrdma::check
