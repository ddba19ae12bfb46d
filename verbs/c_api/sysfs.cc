// Files of /sys. Devices of ours have no folder there, but a path below the one that they name is
// answered as the kernel would, with what the device itself says; any other path is read.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"
#include "verbs/nodes/attribute.h"
#include "verbs/provider.h"

extern "C" int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, std::size_t size);

namespace anyrdma::c_api {
namespace {

using verbs::Provider;

Result<std::string> answer(std::string_view path) {
  const auto transport = process_transport();
  if (!transport) return errno_code(ENOENT);
  for (ibv_device* const device : (*transport)->devices()) {
    const std::string_view own = device->ibdev_path;
    if (!path.starts_with(own) || path.size() == own.size() || path[own.size()] != '/') continue;
    Provider& provider = (*transport)->provider_of(device);
    const auto context = provider.open_device(device);
    if (!context) return context.error();
    auto said = verbs::nodes::attribute({provider, *device, *context}, path.substr(own.size() + 1));
    const auto closed = provider.close_device(*context);
    if (!closed) return closed.error();
    return said;
  }
  return errno_code(ENOENT);
}

/// Without the line's end, as the callers expect it.
Result<std::string> read(const std::string& path) {
  // Not by libc, in whose place device_nodes.cc stands: the device knows better than a file of
  // ours.
  const long file = ::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? answer(path) : errno_code(errno);
  const auto fd = static_cast<int>(file);
  std::array<char, 4096> buffer;  // a page: no attribute is longer, and each comes at once
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  const int error = errno;
  ::close(fd);
  if (count < 0) return errno_code(error);
  std::string said(buffer.data(), static_cast<std::size_t>(count));
  if (said.ends_with('\n')) said.pop_back();
  return said;
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

// Cut to the buffer's size, and ended by a zero if there is room.
int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, std::size_t size) {
  if (dir == nullptr || file == nullptr || buf == nullptr) return fail(EINVAL);
  const auto said = guarded([&] { return read(std::string(dir) + "/" + file); });
  if (!said) return fail(said.error().value());
  const std::size_t length = std::min(said->size(), size);
  std::memcpy(buf, said->data(), length);
  if (length < size) buf[length] = '\0';
  return static_cast<int>(length);
}

const char* ibv_get_sysfs_path() {
  return "/sys";
}

}  // extern "C"
