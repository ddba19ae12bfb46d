// Hosts of a world whose programs are processes, beside hosts whose programs are fibers: what
// `anyrdma sim` and tests stand on.
#pragma once

#include <boost/system/result.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/gateway/gateway.h"
#include "sim/host.h"
#include "sim/programs/sandbox.h"
#include "sim/world.h"

namespace anyrdma::sim {

/// A directory for what the processes of hosts have in common; removed at the end.
class Place {
 public:
  Place();
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Some of a world's hosts, with the way of their processes to all of them (sim/gateway) and the
/// sandbox in which these run. To be destroyed before the world; it kills what is left. Belongs to
/// the thread that made it.
class Machines {
 public:
  /// `options.files` and `options.directory` are its own.
  Machines(World& world, programs::SandboxOptions options);
  ~Machines();
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  /// A host with one interface that has all the addresses; its RDMA device is that of its
  /// processes. The error is a sentence.
  [[nodiscard]] boost::system::result<Host*, std::string> add_host(
      const std::string& name, const std::vector<std::string>& addresses);
  /// What its processes must have in their environment to be on it. Precondition: it is one of
  /// these.
  [[nodiscard]] std::map<std::string, std::string> variables(const Host& host) const;
  [[nodiscard]] programs::Sandbox& sandbox() { return sandbox_; }

 private:
  void pump();
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> files_of(const Host& host) const;
  [[nodiscard]] programs::SandboxOptions with_files(programs::SandboxOptions options);

  World& world_;
  Place place_;
  std::vector<std::pair<const Host*, std::unique_ptr<Gateway>>> gateways_;
  programs::Sandbox sandbox_;
};

}  // namespace anyrdma::sim
