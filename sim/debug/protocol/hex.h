// Bytes and numbers in hexadecimal digits, as gdb's remote protocol has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace anyrdma::sim::debug {

[[nodiscard]] std::string to_hex(std::string_view bytes);
/// nullopt: there is an odd digit, or something that is none.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view digits);
/// Without leading zeros.
[[nodiscard]] std::string number_text(std::uint64_t number);

/// Reads a text from its beginning. Each function takes what it recognizes, or nothing.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] bool take(std::string_view word);
  /// Hexadecimal, at most 16 digits.
  [[nodiscard]] std::optional<std::uint64_t> take_number();
  /// Up to `end`, which is taken, too; without one, all.
  [[nodiscard]] std::string_view take_until(char end);

 private:
  std::string_view rest_;
};

}  // namespace anyrdma::sim::debug
