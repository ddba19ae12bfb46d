// Options of a simulated world, its hosts and the links between them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recording/sink.h"
#include "sim/memory.h"
#include "sim/schedule/schedule.h"
#include "transport/ibcm/profile.h"
#include "transport/soft/port_table.h"
#include "verbs/soft/hca.h"
#include "verbs/time.h"

namespace anyrdma::sim {

using verbs::Duration;
using verbs::Instant;

/// How much of a run is recorded.
enum class Tracing : std::uint8_t {
  kOff,   ///< nothing; costs nothing
  kHash,  ///< only the hash
  kKeep,  ///< the hash and all records, to be read as text
};

/// One direction between two hosts. Probabilities are 0 to 1, per packet.
struct LinkOptions {
  Duration latency = std::chrono::microseconds(2);
  Duration jitter{};     ///< added to the latency, uniform in [0, jitter); keeps the order
  double loss = 0;       ///< the packet never arrives
  double duplicate = 0;  ///< it arrives twice
  double reorder = 0;    ///< it is held back by up to `reorder_delay` and overtaken
  Duration reorder_delay = std::chrono::microseconds(50);
  std::uint64_t bits_per_second = 0;  ///< 0: no limit; else packets queue up for the wire
  bool down = false;                  ///< nothing passes; neighbours do not answer
  bool clogged = false;               ///< the same, but packets wait until it no longer is
};

/// Whether devices judge what programs do with memory that the device works on: docs/checkers.md.
enum class Ownership : std::uint8_t {
  kOff,  ///< costs nothing
  kOn,   ///< World::mistakes() has the findings
};

/// A finding that is no mistake here.
struct Allowance {
  std::string checker;  ///< "source"
  std::string reason;   ///< for readers
};

/// Options of a world, and of links that are not set otherwise.
struct WorldOptions {
  /// Which Linux's CM timing to resemble.
  ibcm::Profile profile = ibcm::kLinux61;
  Tracing tracing = Tracing::kKeep;
  /// Keep every packet for World::capture.
  bool capture = false;
  /// Between any two hosts that World::set_link does not name, and from a host to itself.
  LinkOptions link{};
  /// The order in which programs and the network continue when either could.
  Schedule schedule{};
  /// The memory guarantees of devices, and the chooser of their behaviour within them.
  Memory memory{};
  /// Whether mistakes with buffers, keys and queues are found.
  Ownership ownership = Ownership::kOff;
  /// Those that are not reported.
  std::vector<Allowance> allow{};
  /// Checkers whose remarks are reported as mistakes.
  std::vector<std::string> deny{};
  /// With each mistake of a process the stacks of the posting and of the moment it is found.
  bool stacks = false;
  /// The file for a recording, created or truncated: docs/recording.md. Empty: none.
  /// World::recorder() tells whether it could be created.
  std::string record{};
  /// Takes the recording instead.
  std::shared_ptr<recording::Sink> recording{};
  /// Stack size of each fiber, in bytes. A fiber that needs more crashes on the guard page below.
  std::size_t stack_bytes = std::size_t{256} << 10;
};

/// Links bonded into one interface, of which one is used at a time (Linux: mode active-backup).
struct BondOptions {
  std::size_t links = 2;  ///< 1: no bond, nothing to fail over to
  /// The bond keeps its link address whichever link is used (Linux: fail_over_mac=none), so no
  /// neighbour notices; else it has that of the link (fail_over_mac=active).
  bool keeps_address = false;
};

/// One network interface. Defaults: one RoCE device with the interface's addresses as GIDs.
struct InterfaceOptions {
  std::vector<std::string> addresses;  ///< "192.0.2.1", "192.0.2.1/24", "2001:db8::1/64"
  std::string name{};                  ///< default: eth0, eth1 ...
  bool rdma = true;                    ///< false: an interface without RDMA
  /// Limits of the device. Its name is anyrdmaN and its GUID follows from the MAC unless given.
  std::optional<verbs::soft::HcaConfig> device{};
  BondOptions bond{};
};

/// The interfaces of a host, and the addresses that it cannot reach.
struct HostOptions {
  std::vector<InterfaceOptions> interfaces;
  /// Destinations in these networks are EHOSTUNREACH ("198.51.100.0/24"); all others that no
  /// interface's network contains are ENETUNREACH.
  std::vector<std::string> unreachable{};
  transport::soft::PortTableConfig ports{};
};

}  // namespace anyrdma::sim
