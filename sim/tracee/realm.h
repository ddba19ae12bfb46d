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

  /// Whether to enter it changes who one is.
  [[nodiscard]] bool has_own_users() const { return static_cast<bool>(user_); }
  /// For a process that has one thread, after fork: what it makes from now on belongs to the realm.
  /// Safe in a signal handler. False: errno says why.
  [[nodiscard]] bool enter() const;

 private:
  Realm() = default;

  pid_t owner_ = -1;  ///< who made it: to a fork of that, it is somebody else's
  pid_t first_ =
      -1;  ///< its number 1, which takes in orphans, and sees to it that all is as it was
  transport::realtime::Descriptor channel_;  ///< to the first process
  transport::realtime::Descriptor user_;
  transport::realtime::Descriptor pid_;
  transport::realtime::Descriptor mount_;
  transport::realtime::Descriptor network_;
  Network::Made network_made_ = Network::Made::kNothing;
};

}  // namespace anyrdma::sim::tracee
