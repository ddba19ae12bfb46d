#include "transport/udp/network_namespace.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::udp {
namespace {

/// Moves the calling thread for good.
int enter(int fd) {
  if (::setns(fd, CLONE_NEWNET) == 0) return 0;
  return errno == EINVAL ? ENOENT : errno;
}

}  // namespace

verbs::Result<void> in_network_namespace(const std::string& path,
                                         const std::function<void()>& body) {
  if (path.empty()) {
    body();
    return {};
  }
  const realtime::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return verbs::errno_code(errno == ENOTDIR ? ENOENT : errno);
  int error = 0;
  try {
    std::thread([&] {
      error = enter(fd.get());
      if (error == 0) body();
    }).join();
  } catch (const std::system_error&) {
    error = EAGAIN;
  }
  if (error != 0) return verbs::errno_code(error);
  return {};
}

}  // namespace anyrdma::transport::udp
