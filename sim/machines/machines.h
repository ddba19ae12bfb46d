// Hosts of a world whose programs are processes, beside hosts whose programs are fibers: the base
// of `anyrdma sim` and of tests.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/gateway/gateway.h"
#include "sim/host.h"
#include "sim/machines/run_directory.h"
#include "sim/programs/realms.h"
#include "sim/programs/sandbox.h"
#include "sim/world.h"
#include "verbs/why_not.h"

namespace anyrdma::sim {

/// Directories and namespaces that runs reuse, without state of an earlier run. Creating them takes
/// longer than running a short program. One run at a time in each process; forks of the creator
/// have copies of their own.
class Premises {
 public:
  Premises() = default;
  Premises(const Premises&) = delete;
  Premises& operator=(const Premises&) = delete;

  /// The directory and the namespaces of this process. They are removed with all others when the
  /// process that made the premises ends.
  [[nodiscard]] const std::filesystem::path& directory();
  [[nodiscard]] programs::Realms& realms();
  /// Files that are every host's, and the paths where it sees them.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& files();
  /// The directory with these files of that host; empty: it cannot be created. Programs are
  /// redirected there, read-only (verbs/c_api/device_nodes.cc).
  [[nodiscard]] std::string nodes(const std::string& host,
                                  std::map<std::string, std::string> files);

 private:
  void settle();

  RunDirectory all_;
  pid_t owner_ = -1;  ///< of what follows
  std::filesystem::path directory_;
  programs::Realms realms_;
  std::vector<std::pair<std::string, std::string>> files_;
  std::map<std::string, std::map<std::string, std::string>> nodes_;
};

/// The directory of one run; removed at its end. An empty path: there is none, nor is one removed.
class Place {
 public:
  explicit Place(std::filesystem::path path);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Hosts of a world whose programs are processes, with their gateways (sim/gateway) and the
/// supervisor. Destroy it before the world; it kills remaining processes. Belongs to the thread
/// that created it.
class Machines {
 public:
  /// `options.files`, `options.directory` and `options.realms` are its own. `premises`: null, or of
  /// runs before and after this one.
  Machines(World& world, programs::SandboxOptions options, Premises* premises = nullptr);
  ~Machines();
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  /// Why there can be no such host, as a sentence; empty: there can. Its name is one of files, too:
  /// letters, digits, `.`, `-` and `_`, and begins with a letter or a digit. No two hosts have one
  /// name or one address.
  [[nodiscard]] std::string problem_with_host(const std::string& name,
                                              const std::vector<std::string>& addresses) const;
  /// A host with one interface that has all the addresses; its RDMA device is that of its
  /// processes.
  [[nodiscard]] verbs::OrWhyNot<Host*> add_host(const std::string& name,
                                                const std::vector<std::string>& addresses);
  /// The environment variables of the host's processes. Precondition: the host is one of these.
  [[nodiscard]] std::map<std::string, std::string> variables(const Host& host) const;
  [[nodiscard]] programs::Sandbox& sandbox() { return sandbox_; }

 private:
  void pump();
  [[nodiscard]] std::string nodes_of(Host& host) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> files_of(const Host& host) const;
  [[nodiscard]] programs::SandboxOptions with_premises(programs::SandboxOptions options);

  World& world_;
  const std::unique_ptr<Premises> own_premises_;
  Premises& premises_;
  Place place_;
  std::vector<std::pair<Host*, std::unique_ptr<Gateway>>> gateways_;
  programs::Sandbox sandbox_;
};

}  // namespace anyrdma::sim
