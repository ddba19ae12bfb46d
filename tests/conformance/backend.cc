#include "tests/conformance/backend.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/conformance/require.h"

namespace anyrdma::conformance {

namespace {

struct AbilityWords {
  std::string_view name;
  std::string_view meaning;
};

const AbilityWords& words_of(Ability ability) {
  static constexpr std::array<AbilityWords, static_cast<std::size_t>(kLastAbility) + 1> kWords = {{
      {"loss", "chosen messages of the connection manager lost"},
      {"deaf neighbour", "a neighbour that answers, but has no RDMA"},
      {"device each", "a device, and so a link, for each party"},
      {"IPv6", "IPv6 addresses"},
      {"removal", "a device unplugged"},
      {"fail-over", "a bonded interface that takes another link address"},
      {"moving neighbour", "a neighbour whose link address changes"},
      {"multicast", "groups"},
      {"ECE", "a device with options to agree upon"},
      {"atomics", "atomic operations in the peer's memory"},
      {"rereg", "ibv_rereg_mr"},
      {"on demand", "memory whose pages come when they are used"},
      {"XRC", "extended connections"},
      {"atomic write", "eight bytes written at once"},
      {"device memory", "memory of the device's own"},
      {"parent domains", "domains of threads, and parent domains"},
      {"timestamps", "completions that tell when they came"},
      {"moderation", "completions announced together"},
      {"minutes", "performances side by side, so that minutes of real time are affordable"},
  }};
  return kWords[static_cast<std::size_t>(ability)];
}

}  // namespace

std::string_view to_string(Ability ability) {
  return words_of(ability).meaning;
}

std::string_view short_name(Ability ability) {
  return words_of(ability).name;
}

std::string_view to_string(Message message) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Message::kSidrRep) + 1> kNames = {
      "REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"};
  return kNames[static_cast<std::size_t>(message)];
}

void make_nonblocking(int fd) {
  if (fd >= 0) (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

rdma_cm_event* Backend::next_event(Side side, rdma_event_channel* channel) {
  rdma_cm_event* event = nullptr;
  return calls(side).cm.get_cm_event(channel, &event) == 0 ? event : nullptr;
}

void Backend::lose(Side, Message, unsigned) {
  require(false, "the scenario does not say that it needs kLoss");
}
void Backend::remove_device(Side) {
  require(false, "the scenario does not say that it needs kRemoveDevice");
}
void Backend::fail_over(Side) {
  require(false, "the scenario does not say that it needs kFailOver");
}

void Backend::fail_back(Side) {
  require(false, "the scenario does not say that it needs kFailOver");
}
void Backend::tell_of_neighbour(NeighbourNews) {
  require(false, "the scenario does not say that it needs kMovingNeighbour");
}

const std::vector<BackendKind>& backend_kinds() {
  using enum Ability;
  static const std::set<Ability> kOfSoftRoce = {kDeafNeighbour, kFailOver, kMovingNeighbour,
                                                kMulticast,     kAtomics,  kMinutes};
  // With a hub between two devices (hub_machine.sh).
  static const std::set<Ability> kOfTheJudge = [] {
    std::set<Ability> all = kOfSoftRoce;
    all.insert({kLoss, kDeviceEach});
    return all;
  }();
  static const std::set<Ability> kOfNewerSoftRoce = [] {
    std::set<Ability> all = kOfTheJudge;
    all.insert(kAtomicWrite);  // since 6.2
    return all;
  }();
  static const std::vector<BackendKind> kKinds = {
      {.name = "sim",
       .abilities = {kLoss, kDeafNeighbour, kDeviceEach, kIPv6, kRemoveDevice, kFailOver,
                     kMovingNeighbour, kMulticast, kAtomics, kRereg, kOnDemand, kXrc, kAtomicWrite,
                     kDeviceMemory, kParentDomains, kTimestamps, kModeration, kMinutes},
       .virtual_time = true},
      {.name = "fabric",
       .abilities = {kMulticast, kAtomics, kRereg, kOnDemand, kXrc, kAtomicWrite, kDeviceMemory,
                     kParentDomains, kTimestamps, kModeration, kMinutes}},
      {.name = "linux", .abilities = kOfTheJudge, .is_kernel = true},
      {.name = "linux-6.12", .abilities = kOfNewerSoftRoce, .is_newer_kernel = true},
      {.name = "linux-unstable", .abilities = kOfNewerSoftRoce, .is_newer_kernel = true},
      {.name = "linux-siw", .abilities = {kMinutes}},
      {.name = "ucma", .abilities = kOfSoftRoce},
      {.name = "wire", .abilities = {kDeviceEach, kMulticast}},
  };
  return kKinds;
}

const BackendKind* find_backend_kind(std::string_view name) {
  const auto found = std::ranges::find(backend_kinds(), name, &BackendKind::name);
  return found == backend_kinds().end() ? nullptr : &*found;
}

}  // namespace anyrdma::conformance
