// A set of processes with numbers, a /proc, and a network of their own: the first process of a run
// has the same number every time. Source: pid_namespaces(7), user_namespaces(7).
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/tracee/network.h"
#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::sim::tracee {

/// Ends with all of its processes. Needs no privileges where user namespaces are allowed.
class Realm {
 public:
  /// EPERM, ENOSPC, EINVAL: the system does not allow it; ENOMEM, EAGAIN, EMFILE. `files`: files
  /// that replace others, if the system allows it. `network`: creates a network namespace; with
  /// null, or if that is not allowed, it is the system's.
  [[nodiscard]] static verbs::Result<std::unique_ptr<Realm>> create(
      const std::vector<std::pair<std::string, std::string>>& files = {},
      Network* network = nullptr);
  ~Realm();
  Realm(const Realm&) = delete;
  Realm& operator=(const Realm&) = delete;

  /// For the next run: as it was when it was made, with the same numbers to come. Precondition: its
  /// processes have been taken note of to the last one. False: something of them is left, in which
  /// case it is to be destroyed.
  [[nodiscard]] bool renew();

  [[nodiscard]] Network::Made network() const { return network_made_; }

  /// Whether entering it changes the user id.
  [[nodiscard]] bool has_own_users() const { return static_cast<bool>(user_); }
  /// Moves a process with one thread, after fork, into the namespaces: its later children belong to
  /// them. Safe in a signal handler. False: errno has the reason.
  [[nodiscard]] bool enter() const;

 private:
  Realm() = default;

  pid_t owner_ = -1;  ///< the process that made it; a fork of that process is another one
  pid_t first_ =
      -1;  ///< process 1 of the PID namespace: adopts orphans, and undoes all changes at the end
  transport::realtime::Descriptor channel_;  ///< to the first process
  transport::realtime::Descriptor user_;
  transport::realtime::Descriptor pid_;
  transport::realtime::Descriptor mount_;
  transport::realtime::Descriptor network_;
  Network::Made network_made_ = Network::Made::kNothing;
};

}  // namespace anyrdma::sim::tracee
