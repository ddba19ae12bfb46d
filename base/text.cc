#include "base/text.h"

#include <sys/wait.h>

#include <array>
#include <cstdarg>
#include <cstdio>

namespace anyrdma {

void append(std::string& text, const char* format, ...) {
  std::array<char, 256> buffer;
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer.data(), buffer.size(), format, arguments);
  va_end(arguments);
  if (length > 0) {
    text.append(buffer.data(), std::min(static_cast<std::size_t>(length), buffer.size() - 1));
  }
}

std::string ending_text(int status) {
  return WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                             : "ended with status " + std::to_string(WEXITSTATUS(status));
}

std::string seconds_text(std::chrono::nanoseconds duration) {
  constexpr long long kNanoseconds = 1'000'000'000;
  std::string text;
  const long long count = duration.count();
  append(text, "%lld.%09lld", count / kNanoseconds, count % kNanoseconds);
  return text;
}

std::string hex_text(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xfU];
  }
  return text;
}

}  // namespace anyrdma
