// Checks that each atomic operation is executed once, and that each response carries the original
// value of the memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "check/violations.h"

namespace anyrdma::check {

/// Streams as in payload.h, from the requester to the responder.
class Atomics {
 public:
  explicit Atomics(Violations& violations) : violations_(violations) {}

  void on_done(const std::string& stream, std::uint32_t psn, std::uint64_t original);
  void on_answer(const std::string& stream, std::uint32_t psn, std::uint64_t original);
  /// The stream ends here: a later one may have its name.
  void on_end(const std::string& stream) { done_.erase(stream); }

 private:
  struct Done {
    std::uint32_t psn;
    std::uint64_t original;
  };
  /// Operations that are too old to be repeated are dropped, since PSNs are reused.
  static constexpr std::size_t kRemembered = 256;
  [[nodiscard]] const Done* find(const std::string& stream, std::uint32_t psn) const;

  Violations& violations_;
  std::map<std::string, std::deque<Done>> done_;
};

}  // namespace anyrdma::check
