// The directory in which the processes of a user meet. Only that user can enter it, so no other
// user can read, take or remove a name in it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/error.h"
#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

/// An open directory. Its name is anyrdma-UID. In a directory that all users can write, another
/// user may have taken that name; then any anyrdma-UID.N of the right owner is used. Nothing is
/// read from the environment, in which cron jobs, containers and sudo differ. A new process looks
/// into all existing ones before it creates one (RegistryFile::open).
class Place {
 public:
  /// Those there are, the preferred one first.
  [[nodiscard]] static std::vector<Place> all(const FabricConfig& config);
  /// In whose order places are made: config.directory alone, where it says one.
  [[nodiscard]] static std::vector<std::string> parents(const FabricConfig& config);
  /// The one in `parent`, made if need be. kNoDirectory, kNotWritable, kNamesTaken, kNoSpace,
  /// kNoResources.
  [[nodiscard]] static verbs::Result<Place> make(const std::string& parent,
                                                 const FabricConfig& config);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The names of its entries.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Removes the directory if it is empty; a process that has just opened it finds that it cannot
  /// be used.
  void remove_if_empty() const;

 private:
  Place(realtime::Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  struct Opened;
  [[nodiscard]] static Opened open(int parent, const std::string& path, const std::string& name,
                                   uid_t uid);

  realtime::Descriptor fd_;
  std::string path_;
};

/// Whether it is of that type (S_IFDIR, S_IFREG), this user's, and closed to all others.
[[nodiscard]] bool is_ours_alone(int fd, mode_t type, uid_t uid);

}  // namespace anyrdma::transport::fabric
