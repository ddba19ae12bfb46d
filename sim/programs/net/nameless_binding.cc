#include "sim/programs/net/nameless_binding.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {
namespace {

constexpr unsigned kDrawnNames = 1 << 20;
constexpr std::size_t kDigits = 5;
constexpr socklen_t kNoName = sizeof(sa_family_t);

bool has_name(const Descriptor& descriptor) {
  sockaddr_un name{};
  socklen_t size = sizeof name;
  return ::getsockname(descriptor.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
         size > kNoName;
}

/// 0 or an errno.
int bind_to(const Descriptor& descriptor, unsigned number) {
  std::array<char, kDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%05x", number);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, digits.data(), kDigits);
  constexpr socklen_t kSize = kNoName + 1 + kDigits;
  return ::bind(descriptor.get(), reinterpret_cast<sockaddr*>(&name), kSize) == 0 ? 0 : errno;
}

}  // namespace

Outcome bind_nameless(Thread& thread, const Call& call, const Descriptor& descriptor) {
  const auto family = thread.tracee().peek<sa_family_t>(call.arguments[1]);
  if (call.arguments[2] != kNoName || family != AF_UNIX || !descriptor || has_name(descriptor))
    return Outcome::made();
  // The socket's namespace has the names: those of the host.
  for (unsigned number = 0; number < kDrawnNames; ++number) {
    const int error = bind_to(descriptor, number);
    if (error != EADDRINUSE) return Outcome::answered(-error);
  }
  return Outcome::answered(-ENOSPC);
}

}  // namespace anyrdma::sim::programs
