// Directories that each simulated host has for itself, mounted over the machine's: /tmp, /dev/shm
// and /run. Source: mount(2), tmpfs(5), Linux's Documentation/filesystems/overlayfs.rst.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::tracee {

/// Directories that are not a host's own: a directory of the machine, and the path at which the
/// host's programs see it.
using CommonDirectories = std::vector<std::pair<std::string, std::string>>;

/// The own directories of one host. /dev/shm and /run are empty at first; /tmp has the machine's
/// files, of which programs change a copy. Each has 1 GiB of free space. Nothing of them remains
/// when they are unmounted. Use this class in a process that is in the host's mount namespace, and
/// keep all descriptors that it opens.
class OwnDirectories {
 public:
  /// Opens the common directories, which the mounts hide. Those that are where they always are, and
  /// not below an own directory, need no mount. A directory that cannot be opened is left out.
  explicit OwnDirectories(const CommonDirectories& common);

  /// Mounts all. Returns false if the system refuses a mount; the machine's directory is visible
  /// then.
  [[nodiscard]] bool mount();
  /// Restores the state that mount() has made, after all programs have ended. Returns false if the
  /// system refuses a mount.
  [[nodiscard]] bool renew();

 private:
  struct Bound {
    transport::realtime::Descriptor source;
    std::string target;
  };
  /// A mounted directory, where what programs write goes.
  struct Mounted {
    std::string path;
    unsigned mounts = 1;  ///< one above the other
    transport::realtime::Descriptor top;
    unsigned long files = 0;
  };

  [[nodiscard]] bool mount_empty(const char* path, mode_t mode);
  [[nodiscard]] bool mount_copied(const char* path);
  [[nodiscard]] bool bind_common();
  void note_states();
  [[nodiscard]] bool is_as_mounted() const;

  std::vector<Bound> bound_;
  std::vector<Mounted> mounted_;
  transport::realtime::Descriptor machines_;  ///< the machine's /tmp
};

}  // namespace anyrdma::sim::tracee
