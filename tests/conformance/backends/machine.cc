#include "tests/conformance/backends/machine.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "tests/conformance/require.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

namespace {

constexpr const char* kHome = "02:00:00:00:00:0a";
constexpr const char* kElsewhere = "02:00:00:00:00:0b";
/// Performances side by side have one each: a neighbour that moves, or a server's address. Nobody
/// else uses these addresses.
constexpr unsigned kFirstOwn = 100;
constexpr unsigned kOwnAtOnce = 100;

/// Of bond_machine.sh: what both parties are on, unless hub_machine.sh gave the client its own.
struct Bond {
  const char* name;
  const char* first_link;
  const char* next_link;
};
constexpr Bond kBond{"bond0", "veth0", "veth2"};
constexpr Bond kClientsBond{"bond1", "veth4", "veth6"};
constexpr const char* kHub = "/run/hub";
/// Attributes of the CM's messages are in the order of Message from here on (IBTA vol 1, 16.7.3).
constexpr int kFirstAttribute = 0x10;

bool has_device(const std::string& name) {
  return std::filesystem::exists("/sys/class/infiniband/" + name);
}

bool has_device_each() {
  return has_device("rxe1") || has_device("siw1");
}

bool has_bond() {
  return std::filesystem::exists(std::string("/sys/class/net/") + kBond.name);
}

bool has_hub() {
  return std::filesystem::exists(kHub);
}

const Bond& bond_of(Side side) {
  return side == Side::kActive && has_hub() ? kClientsBond : kBond;
}

void use_link(const Bond& bond, const std::string& link) {
  require(has_bond(), "no bond: run within bond_machine.sh");
  const std::string command =
      std::string("ip link set ") + bond.name + " type bond active_slave " + link;
  require(std::system(command.c_str()) == 0, "the bond keeps its link");
}

/// Returns when the hub does as it was told.
void tell_hub(const std::string& wish) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sa_family_t unnamed = AF_UNIX;
  sockaddr_un hub{.sun_family = AF_UNIX, .sun_path = {}};
  std::string_view(kHub).copy(hub.sun_path, sizeof hub.sun_path - 1);
  const bool bound =
      ::bind(socket, reinterpret_cast<const sockaddr*>(&unnamed), sizeof unnamed) == 0;
  require(bound && ::connect(socket, reinterpret_cast<const sockaddr*>(&hub), sizeof hub) == 0,
          "no hub: run within hub_machine.sh");
  std::array<char, 16> answer{};
  require(::send(socket, wish.data(), wish.size(), 0) > 0 &&
              ::recv(socket, answer.data(), answer.size(), 0) > 0,
          "the hub does not answer");
  (void)::close(socket);
}

bool fails_over(unsigned number) {
  return scenarios()[number].needs.contains(Ability::kFailOver);
}

}  // namespace

// What happens to a bond happens to all that are on it: one performance at a time.
MachineBackend::MachineBackend(unsigned number) : number_(number) {
  if (!has_bond() || !fails_over(number)) return;
  alone_ = ::open("/run/lock/bond", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  require(alone_ >= 0 && ::flock(alone_, LOCK_EX) == 0, "no lock");
  for (const Side side : {Side::kPassive, Side::kActive}) fail_back(side);
}

MachineBackend::~MachineBackend() {
  if (alone_ >= 0) (void)::close(alone_);
}

void MachineBackend::fail_over(Side side) {
  use_link(bond_of(side), bond_of(side).next_link);
}

void MachineBackend::fail_back(Side side) {
  use_link(bond_of(side), bond_of(side).first_link);
}

void MachineBackend::lose(Side from, Message message, unsigned count) {
  const std::string way = from == Side::kPassive ? "from " : "to ";
  const int attribute = kFirstAttribute + static_cast<int>(message);
  tell_hub(way + address(Role::kServer) + " " + std::to_string(attribute) + " " +
           std::to_string(count));
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
  if (role == Role::kMoving || (role == Role::kServer && has_hub())) {
    std::string own = "10.9.0." + std::to_string(kFirstOwn + number_ % kOwnAtOnce);
    return own;
  }
  static const std::map<Role, std::string> kAddresses = {
      {Role::kServer, "10.9.0.1"},
      {Role::kServerOther, "10.9.0.3"},
      {Role::kClient, has_device_each() ? "10.9.1.1" : "10.9.0.2"},
      {Role::kNobody, "10.9.0.77"},
      {Role::kDeaf, "10.9.0.9"},
      {Role::kNowhere, "203.0.113.5"},
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
  return has_device("rxe0") || has_device("siw0") ? "" : "there is no software device";
}

}  // namespace anyrdma::conformance
