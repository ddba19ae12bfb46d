// The directory in which the processes of a user's fabrics find each other. Only that user can
// enter it, so no other user can read, create or remove files in it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/error.h"
#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::transport::fabric {

/// An open directory with the name anyrdma-UID. In a directory that all users can write, another
/// user may have taken that name; then a directory anyrdma-UID.N of the right owner is used. Its
/// place does not depend on the environment, which differs in cron jobs, containers and sudo. A new
/// process looks into all existing ones before it creates one (RegistryFile::open).
class Place {
 public:
  /// Returns the existing directories, the preferred one first.
  [[nodiscard]] static std::vector<Place> all(const FabricConfig& config);
  /// Returns the parent directories in order of preference: only config.directory, if it is set.
  [[nodiscard]] static std::vector<std::string> parents(const FabricConfig& config);
  /// Opens the directory in `parent`, and creates it if needed. Errors: kNoDirectory, kNotWritable,
  /// kNamesTaken, kNoSpace, kNoResources.
  [[nodiscard]] static verbs::Result<Place> make(const std::string& parent,
                                                 const FabricConfig& config);

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns the names of the directory's entries.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Removes the directory if it is empty. A process that has just opened it finds that it cannot
  /// create files there.
  void remove_if_empty() const;

 private:
  Place(realtime::Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  struct Opened;
  [[nodiscard]] static Opened open(int parent, const std::string& path, const std::string& name,
                                   uid_t uid);

  realtime::Descriptor fd_;
  std::string path_;
};

/// Whether the file has that type (S_IFDIR, S_IFREG), belongs to this user, and grants no access to
/// others.
[[nodiscard]] bool is_ours_alone(int fd, mode_t type, uid_t uid);

}  // namespace anyrdma::transport::fabric
