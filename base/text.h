// Small pieces of text that look the same everywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace anyrdma {

/// "12.000000345": seconds with nine decimals.
[[nodiscard]] std::string seconds_text(std::chrono::nanoseconds duration);
/// "6e6f".
[[nodiscard]] std::string hex_text(std::span<const std::uint8_t> bytes);
/// "ended with status 1", "was ended by signal 11": of a status as wait(2) gives it.
[[nodiscard]] std::string ending_text(int status);
/// As printf.
[[gnu::format(printf, 2, 3)]] void append(std::string& text, const char* format, ...);

}  // namespace anyrdma
