#include "sim/programs/kernel/proc_name.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace anyrdma::sim::programs {

std::string name_in_proc(const transport::realtime::Descriptor& descriptor) {
  struct stat about {};
  if (::fstat(descriptor.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size != 0)
    return {};
  struct statfs system {};
  if (::fstatfs(descriptor.get(), &system) != 0 || system.f_type != PROC_SUPER_MAGIC) return {};
  return target_of_link("/proc/self/fd/" + std::to_string(descriptor.get()));
}

std::string target_of_link(const std::string& link) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace anyrdma::sim::programs
