// A set of Linux namespaces (PID, mount, IPC, UTS, user and network) for the processes of one
// simulated host. The first process of each run gets the same process id. Source: namespaces(7),
// pid_namespaces(7), ipc_namespaces(7), user_namespaces(7).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/tracee/network.h"
#include "sim/tracee/own_directories.h"
#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::sim::tracee {

/// The options of a Realm.
struct RealmOptions {
  /// Pairs of files or directories, of which the first one is mounted over the other if the system
  /// allows it. Directories are read-only.
  std::vector<std::pair<std::string, std::string>> files{};
  /// Directories that are not the host's own, although /tmp, /dev/shm and /run are.
  CommonDirectories common{};
  std::string name = "localhost";  ///< the host name (gethostname(2))
  /// How long create() waits for the first process, which needs some milliseconds without load,
  /// before it starts another one.
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

/// The namespaces of one simulated host. The destructor kills all processes in them. Where
/// unprivileged user namespaces are allowed, creating a Realm needs no privileges.
class Realm {
 public:
  /// Creates the namespaces. `network`: the settings of a new network namespace; if null, or if the
  /// system allows no such namespace, the processes use the network of the system. Errors: EPERM,
  /// ENOSPC, EINVAL if the system does not allow namespaces; ENOMEM, EAGAIN, EMFILE; ETIMEDOUT if
  /// several first processes in turn do not report in time.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Realm>> create(
      const RealmOptions& options = {}, Network* network = nullptr);
  ~Realm();
  Realm(const Realm&) = delete;
  Realm& operator=(const Realm&) = delete;

  /// Restores the initial state, for reuse in another run: the next process gets the first process
  /// id again. Precondition: all processes in the namespaces have ended and were waited for.
  /// Returns false if the state cannot be restored; destroy the object then.
  [[nodiscard]] bool renew();
  /// Call when a process is about to create a System V or POSIX object (queue, semaphore, shared
  /// memory). renew() then replaces the IPC namespace.
  void note_objects() { has_objects_ = true; }

  /// Adds an address to a network interface, or removes it. The namespaces cannot be renewed
  /// afterwards. Returns false if the system refuses, or the processes use its own network.
  [[nodiscard]] bool change_address(const std::string& interface,
                                    const transport::soft::Prefix& prefix, bool added);

  [[nodiscard]] Network::Made network() const { return network_made_; }
  /// Whether /tmp, /dev/shm and /run are the host's own; otherwise some are the machine's.
  [[nodiscard]] bool has_own_directories() const { return own_directories_; }

  /// Whether entering it changes the user id.
  [[nodiscard]] bool has_own_users() const { return static_cast<bool>(user_); }
  /// Moves the calling process into the namespaces; its later children belong to them.
  /// Precondition: the process has only one thread. Async-signal-safe, for use after fork. Returns
  /// false on failure, with the reason in errno.
  [[nodiscard]] bool enter() const;

 private:
  Realm() = default;

  /// the process that created the object: only its destructor ends the namespaces
  pid_t owner_ = -1;
  pid_t first_ =
      -1;  ///< process 1 of the PID namespace: adopts orphans, and reverts changes when a run ends
  transport::realtime::Descriptor channel_;  ///< to the first process
  transport::realtime::Descriptor user_;
  transport::realtime::Descriptor pid_;
  transport::realtime::Descriptor mount_;
  transport::realtime::Descriptor root_;  ///< the directory "/" of the process that created it
  transport::realtime::Descriptor ipc_;
  transport::realtime::Descriptor names_;  ///< UTS
  transport::realtime::Descriptor network_;
  Network::Made network_made_ = Network::Made::kNothing;
  bool own_directories_ = false;
  bool has_objects_ = false;
};

}  // namespace anyrdma::sim::tracee
