// Simulated hosts whose programs are processes, for `anyrdma sim` and for tests. A world may also
// have hosts whose programs are fibers.
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
#include "sim/host_description.h"
#include "sim/machines/run_directory.h"
#include "sim/programs/kernel/realms.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/world.h"
#include "verbs/why_not.h"

namespace anyrdma::sim {

/// Directories and Linux namespaces that later runs reuse, without state of an earlier run. Reuse
/// saves time, since creating them takes longer than running a short program. In each process, one
/// run at a time may use them; a forked process gets directories and namespaces of its own.
class Premises {
 public:
  Premises() = default;
  Premises(const Premises&) = delete;
  Premises& operator=(const Premises&) = delete;

  /// Returns a sentence about why the files of runs, with hosts of this description, cannot be
  /// written; empty: they can.
  [[nodiscard]] std::string problem(const HostDescription& description = {});
  /// Returns the directory of this process; realms() returns its namespaces. Both are removed when
  /// the process that created this object ends.
  [[nodiscard]] const std::filesystem::path& directory();
  [[nodiscard]] programs::Realms& realms();
  /// Returns the files and directories that every host of the description has, as pairs: a file,
  /// and the path at which the host's programs see it.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& files(
      const HostDescription& description);
  /// Writes `files` to a directory for the host, and returns the directory. Empty: the directory
  /// cannot be created. Programs on the host see these files read-only in place of the machine's
  /// (verbs/c_api/device_nodes.cc).
  [[nodiscard]] std::string nodes(const std::string& host,
                                  std::map<std::string, std::string> files);

 private:
  using Files = std::vector<std::pair<std::string, std::string>>;

  void settle();
  /// Returns an errno, or 0.
  [[nodiscard]] int write_files(const HostDescription& description, Files& files);

  RunDirectory all_;
  pid_t owner_ = -1;  ///< of what follows
  int error_ = 0;     ///< an errno
  std::filesystem::path directory_;
  programs::Realms realms_;
  std::filesystem::path shown_;  ///< has the files
  std::map<HostDescription, Files> files_;
  std::map<std::string, std::map<std::string, std::string>> nodes_;
};

/// Owns the directory of one run, which the destructor removes. If the path is empty, there is no
/// directory to remove.
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

/// Hosts of a world whose programs are processes, with the gateway of each host (sim/gateway) and
/// the supervisor that traces the processes. Destroy this object before the world; the destructor
/// kills remaining processes. Belongs to the thread that created it.
class Machines {
 public:
  /// The constructor sets `options.files`, `options.directory` and `options.realms` itself, and
  /// adds the working directory to `options.common`. There, an entry without a source is a
  /// directory that the hosts of the run have in common; it is empty at the beginning and is
  /// removed at the end. `premises`: directories and namespaces that several runs reuse; null: this
  /// object creates its own.
  Machines(World& world, programs::SandboxOptions options, Premises* premises = nullptr);
  ~Machines();
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  /// Checks whether a host with this name and these interfaces can be added. Returns a sentence
  /// with the reason if it cannot; empty: it can. A name consists of letters, digits, `.`, `-` and
  /// `_`, and begins with a letter or a digit. The name and the addresses must be unique in the
  /// world. `words`: the interfaces and their addresses (host_interfaces.h).
  [[nodiscard]] std::string problem_with_host(const std::string& name,
                                              const std::vector<std::string>& words,
                                              const HostDescription& description = {}) const;
  /// Adds a host with these interfaces. The RDMA device of each interface is simulated inside the
  /// host's processes.
  [[nodiscard]] verbs::OrWhyNot<Host*> add_host(const std::string& name,
                                                const std::vector<std::string>& words,
                                                const HostDescription& description = {});
  /// Returns the environment variables that processes of the host need. Precondition: add_host()
  /// returned the host.
  [[nodiscard]] std::map<std::string, std::string> variables(const Host& host) const;
  [[nodiscard]] programs::Sandbox& sandbox() { return sandbox_; }
  /// Whether no program has done anything but wait for an hour of virtual time. A run ends then.
  [[nodiscard]] bool is_quiet() const;

 private:
  void pump();
  void on_change(Host& host, const transport::soft::DeviceChange& change, std::size_t interface);
  [[nodiscard]] std::string nodes_of(Host& host) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> files_of(const Host& host) const;
  [[nodiscard]] programs::SandboxOptions with_premises(programs::SandboxOptions options);
  void empty_common() const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> huge_page_files_of(
      const Host& host, unsigned free) const;

  World& world_;
  const std::unique_ptr<Premises> own_premises_;
  Premises& premises_;
  Place place_;
  std::vector<std::filesystem::path> common_;  ///< directories of the run
  unsigned huge_pages_ = 0;                    ///< of each host
  std::vector<std::pair<Host*, std::unique_ptr<Gateway>>> gateways_;
  programs::Sandbox sandbox_;
};

}  // namespace anyrdma::sim
