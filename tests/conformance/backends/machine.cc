#include "tests/conformance/backends/machine.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/conformance/require.h"

namespace anyrdma::conformance {

namespace {

constexpr const char* kHome = "02:00:00:00:00:0a";
constexpr const char* kElsewhere = "02:00:00:00:00:0b";
/// Performances side by side have one each: addresses that nobody else uses.
constexpr unsigned kFirstMoving = 100;
constexpr unsigned kMovingAtOnce = 100;

/// Those of bond_machine.sh.
constexpr const char* kBond = "bond0";
constexpr const char* kFirstLink = "veth0";
constexpr const char* kNextLink = "veth2";

bool has_bond() {
  return std::filesystem::exists(std::string("/sys/class/net/") + kBond);
}

void use_link(const std::string& link) {
  require(has_bond(), "no bond: run within bond_machine.sh");
  const std::string command =
      std::string("ip link set ") + kBond + " type bond active_slave " + link;
  require(std::system(command.c_str()) == 0, "the bond keeps its link");
}

}  // namespace

// What happens to the bond happens to all that are on it: one performance at a time.
MachineBackend::MachineBackend(unsigned number) : number_(number) {
  if (!has_bond()) return;
  alone_ = ::open("/run/lock/bond", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  require(alone_ >= 0 && ::flock(alone_, LOCK_EX) == 0, "no lock");
  use_link(kFirstLink);
}

MachineBackend::~MachineBackend() {
  if (alone_ >= 0) (void)::close(alone_);
}

// Both sides are on it; scenarios that need it have one.
void MachineBackend::fail_over(Side) {
  use_link(kNextLink);
}

void MachineBackend::fail_back(Side) {
  use_link(kFirstLink);
}

// An entry that nobody has to confirm, so that time does nothing to it.
void MachineBackend::set_neighbour(const std::string& state) {
  const std::string command = "ip neighbour replace " + address(Role::kMoving) + " lladdr " +
                              link_address_ + " dev veth0 " + state;
  require(std::system(command.c_str()) == 0, "no neighbour");
}

void MachineBackend::tell_of_neighbour(NeighbourNews news) {
  switch (news) {
    case NeighbourNews::kElsewhere:
      link_address_ = kElsewhere;
      return set_neighbour("nud permanent");
    case NeighbourNews::kBack:
      link_address_ = kHome;
      return set_neighbour("nud permanent");
    case NeighbourNews::kAgain:
      set_neighbour("nud stale");
      return;
    case NeighbourNews::kForgotten:
      const std::string command = "ip neighbour del " + address(Role::kMoving) + " dev veth0";
      return require(std::system(command.c_str()) == 0, "no neighbour");
  }
}

std::string MachineBackend::address(Role role) {
  if (role == Role::kMoving) {
    const std::string moving = "10.9.0." + std::to_string(kFirstMoving + number_ % kMovingAtOnce);
    return moving;
  }
  static const std::map<Role, std::string> kAddresses = {
      {Role::kServer, "10.9.0.1"},    {Role::kServerOther, "10.9.0.3"},
      {Role::kClient, "10.9.0.2"},    {Role::kNobody, "10.9.0.77"},
      {Role::kDeaf, "10.9.0.9"},      {Role::kNowhere, "203.0.113.5"},
      {Role::kForeign, "203.0.113.6"}};
  return kAddresses.at(role);
}

// The kernel closes the file when no descriptor refers to it. Another one that nothing can be
// written to stays in its place, so that what is destroyed afterwards reaches nobody.
void MachineBackend::end_of_kernels(rdma_event_channel* channel) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  require(nothing >= 0 && ::dup2(nothing, channel->fd) >= 0, "no descriptor");
  (void)::close(nothing);
}

// Nothing is opened here: performances are forked, and the kernel takes no commands over a parent's
// descriptors (EACCES).
std::string prepare_process() {
  return std::filesystem::exists("/sys/class/infiniband/rxe0") ? ""
                                                               : "there is no Soft-RoCE device";
}

}  // namespace anyrdma::conformance
