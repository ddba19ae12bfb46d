#include "sim/programs/io/chance.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/programs/io/answered_reading.h"
#include "sim/programs/kernel/proc_name.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

/// Who wants more is told of fewer, and asks again.
constexpr std::uint64_t kAtOnce = 1 << 20;

std::vector<std::byte> draw(Thread& thread, std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(thread.supervisor().random().next());
  return bytes;
}

std::uint64_t length_of(std::span<const iovec> parts) {
  std::uint64_t length = 0;
  for (const iovec& part : parts) length += part.iov_len;
  return length;
}

/// random(4).
bool is_device(const struct stat& about) {
  constexpr unsigned kMajor = 1;
  constexpr unsigned kRandom = 8;
  constexpr unsigned kUrandom = 9;
  return S_ISCHR(about.st_mode) && major(about.st_rdev) == kMajor &&
         (minor(about.st_rdev) == kRandom || minor(about.st_rdev) == kUrandom);
}

/// A random one, RFC 4122's version 4, and a line's end.
std::string new_uuid(Thread& thread) {
  std::vector<std::byte> bytes = draw(thread, 16);
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x40};
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", std::to_integer<unsigned>(bytes[i]));
    text += digits.data();
  }
  return text + '\n';
}

}  // namespace

bool is_random_device(const Descriptor& descriptor) {
  struct stat about {};
  return ::fstat(descriptor.get(), &about) == 0 && is_device(about);
}

Outcome on_getrandom(Thread& thread, const Call& call) {
  const auto bytes = draw(thread, std::min(call.arguments[1], kAtOnce));
  if (!thread.tracee().write(call.arguments[0], bytes)) return Outcome::answered(-EFAULT);
  return Outcome::answered(static_cast<long>(bytes.size()));
}

std::optional<Outcome> read_chance(Thread& thread, const Call& call, const Descriptor& descriptor) {
  struct stat about {};
  if (::fstat(descriptor.get(), &about) != 0) return std::nullopt;
  const bool device = is_device(about);
  // The kernel gives a new one to who reads from the beginning, and then says that this was all.
  if (!device && (!name_in_proc(descriptor).ends_with("/kernel/random/uuid") ||
                  ::lseek(descriptor.get(), 0, SEEK_CUR) != 0))
    return std::nullopt;
  const auto parts = places_of(thread, call);
  if (!parts) return Outcome::answered(-EFAULT);
  if (device) return give(thread, *parts, draw(thread, std::min(length_of(*parts), kAtOnce)));
  const std::string uuid = new_uuid(thread);
  const Outcome outcome = give(thread, *parts, std::as_bytes(std::span(uuid)));
  if (outcome.result > 0) ::lseek(descriptor.get(), outcome.result, SEEK_SET);
  return outcome;
}

}  // namespace anyrdma::sim::programs
