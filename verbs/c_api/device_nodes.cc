// The device's node, /dev/infiniband/uverbs0, for programs that look whether they may open it
// before they use a device (UCX does). Only root could make one, so whoever asks about one that is
// not there is told of /dev/null, a character device that may be read and written. `anyrdma run`
// has the loader put this library before all others (LD_PRELOAD), where it stands in every
// program's way: it needs nothing but libc.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace {

constexpr const char* kStandIn = "/dev/null";

/// "/dev/infiniband/uverbs" and a number.
bool is_node(const char* path) {
  constexpr const char* kNode = "/dev/infiniband/uverbs";
  const std::size_t length = std::strlen(kNode);
  if (std::strncmp(path, kNode, length) != 0) return false;
  const char* const number = path + length;
  return *number != '\0' && number[std::strspn(number, "0123456789")] == '\0';
}

/// What `ask` says of the path, or of what stands in for it.
template <class Ask>
int ask_of(const char* path, Ask ask) {
  const int result = ask(path);
  return result == 0 || errno != ENOENT || !is_node(path) ? result : ask(kStandIn);
}

int say_status(const char* path, struct stat* status) {
  return ask_of(path, [status](const char* of) { return ::fstatat(AT_FDCWD, of, status, 0); });
}

static_assert(sizeof(struct stat) == sizeof(struct stat64), "one function serves both");

}  // namespace

extern "C" {

int access(const char* path, int mode) noexcept {
  return ask_of(path, [mode](const char* of) { return ::faccessat(AT_FDCWD, of, mode, 0); });
}

int stat(const char* path, struct stat* status) noexcept {
  return say_status(path, status);
}

int stat64(const char* path, struct stat64* status) noexcept {
  return say_status(path, reinterpret_cast<struct stat*>(status));
}

// What programs call that were built with a glibc older than 2.33.
int old_stat(int version, const char* path, struct stat* status) noexcept __asm__("__xstat");
int old_stat(int /*version*/, const char* path, struct stat* status) noexcept {
  return say_status(path, status);
}

int old_stat64(int version, const char* path, struct stat* status) noexcept __asm__("__xstat64");
int old_stat64(int /*version*/, const char* path, struct stat* status) noexcept {
  return say_status(path, status);
}
}
