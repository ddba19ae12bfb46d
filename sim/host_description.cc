#include "sim/host_description.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/number.h"

namespace anyrdma::sim {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kMemoryMin = 64 * kMebibyte;
constexpr std::uint64_t kMemoryMax = std::uint64_t{64} << 40;  // what 46 bits address
constexpr std::uint64_t kHugePage = 2 * kMebibyte;

/// Of utsname's field, without the null byte.
constexpr std::size_t kReleaseMax = 64;

/// glibc's dynamic linker refuses to run a program on an older kernel than this.
constexpr unsigned kOldestMajor = 3;
constexpr unsigned kOldestMinor = 2;

bool is_of_release(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._+~-").find(c) != std::string_view::npos;
}

std::string problem_with_release(std::string_view release) {
  const std::string named = "'" + std::string(release.substr(0, kReleaseMax)) + "'";
  std::string_view rest = release;
  const auto major = take_number<unsigned>(rest);
  const bool has_minor = rest.starts_with('.');
  if (has_minor) rest.remove_prefix(1);
  const auto minor = take_number<unsigned>(rest);
  if (!major || !has_minor || !minor || release.size() > kReleaseMax ||
      !std::ranges::all_of(release, is_of_release))
    return named +
           " is no release of a kernel. Write its numbers, as in 5.10.0 or 6.1.0-18-amd64, with at "
           "most " +
           std::to_string(kReleaseMax) + " characters";
  if (std::pair(*major, *minor) < std::pair(kOldestMajor, kOldestMinor))
    return "the kernel " + named + " is older than 3.2, and programs do not start on it";
  return "";
}

}  // namespace

std::string problem_with(const HostDescription& description, unsigned huge_pages) {
  if (description.processors == 0 || description.processors > kProcessorsMax)
    return "a host has from 1 to " + std::to_string(kProcessorsMax) + " processors, not " +
           std::to_string(description.processors);
  if (description.memory < kMemoryMin || description.memory > kMemoryMax)
    return "a host has from 64MiB to 64TiB of memory";
  if (description.memory % kMebibyte != 0) return "the memory of a host is a multiple of 1MiB";
  const bool is_default = description.memory == HostDescription{}.memory;
  if (!is_default && huge_pages * kHugePage > description.memory)
    return "the memory of the host, " + std::to_string(description.memory / kMebibyte) +
           "MiB, is too small for its " + std::to_string(huge_pages) + " huge pages of 2MiB";
  return problem_with_release(description.kernel);
}

ProcessorSet first_processors(unsigned count) {
  ProcessorSet set;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, set.size()); ++i) set.set(i);
  return set;
}

unsigned first_of(const ProcessorSet& set) {
  unsigned first = 0;
  while (!set.test(first)) ++first;
  return first;
}

std::string list_text(const ProcessorSet& set) {
  std::string text;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!set.test(i)) continue;
    std::size_t last = i;
    while (last + 1 < set.size() && set.test(last + 1)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(i);
    if (last != i) text += "-" + std::to_string(last);
    i = last;
  }
  return text;
}

std::string mask_text(const ProcessorSet& set, unsigned processors) {
  constexpr std::size_t kWord = 32;
  constexpr std::size_t kDigit = 4;
  const std::size_t words = (processors + kWord - 1) / kWord;
  std::string text;
  for (std::size_t word = words; word-- > 0;) {
    unsigned bits = 0;
    for (std::size_t i = 0; i < kWord; ++i)
      if (const std::size_t at = word * kWord + i; at < set.size() && set.test(at)) bits |= 1u << i;
    const std::size_t left = std::min(processors - word * kWord, kWord);
    char digits[kWord / kDigit + 1];
    std::snprintf(digits, sizeof digits, "%0*x", static_cast<int>((left + kDigit - 1) / kDigit),
                  bits);
    text += (text.empty() ? "" : ",") + std::string(digits);
  }
  return text;
}

}  // namespace anyrdma::sim
