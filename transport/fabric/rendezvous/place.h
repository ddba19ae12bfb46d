// The directory in which the processes of a user's fabrics find each other. Only that user can
// enter it, so no other user can read, create or remove its files.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/error.h"
#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

/// An open directory with the name anyrdma-UID. In a parent directory that all users can write,
/// another user may have taken that name; then anyrdma-UID.N of the right owner is used. The path
/// does not depend on the environment, which differs in cron jobs, containers and sudo. A new
/// process looks into all existing directories before it creates one (RegistryFile::open).
class Place {
 public:
  /// Returns the existing directories of this user's fabrics, the preferred one first.
  [[nodiscard]] static std::vector<Place> all(const FabricConfig& config);
  /// Returns the possible parent directories in order of preference. If config.directory is set, it
  /// is the only one.
  [[nodiscard]] static std::vector<std::string> parents(const FabricConfig& config);
  /// Opens the directory in `parent`, and creates it if needed. Errors: kNoDirectory, kNotWritable,
  /// kNamesTaken, kNoSpace, kNoResources.
  [[nodiscard]] static verbs::Result<Place> make(const std::string& parent,
                                                 const FabricConfig& config);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns the names of the directory's entries.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Removes the directory if it is empty. A process that has opened it just before cannot create
  /// files in it any more.
  void remove_if_empty() const;

 private:
  Place(realtime::Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  struct Opened;
  [[nodiscard]] static Opened open(int parent, const std::string& path, const std::string& name,
                                   uid_t uid);

  realtime::Descriptor fd_;
  std::string path_;
};

/// Whether the open file `fd` has the given type (S_IFDIR, S_IFREG), belongs to this user, and
/// grants no access to others.
[[nodiscard]] bool is_ours_alone(int fd, mode_t type, uid_t uid);

}  // namespace anyrdma::transport::fabric
