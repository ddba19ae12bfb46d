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
#include "sim/host_description.h"
#include "sim/memory.h"
#include "sim/schedule/schedule.h"
#include "sim/trace/tracing.h"
#include "transport/ibcm/profile.h"
#include "transport/soft/port_table.h"
#include "verbs/soft/hca.h"
#include "verbs/time.h"

namespace anyrdma::sim {

using verbs::Duration;
using verbs::Instant;

/// The behaviour of the network in one direction between two hosts. Probabilities are from 0 to 1,
/// per packet.
struct LinkOptions {
  Duration latency = std::chrono::microseconds(2);
  /// random delay added to the latency, from 0 to below `jitter`; packets stay in order
  Duration jitter{};
  double loss = 0;       ///< the packet never arrives
  double duplicate = 0;  ///< it arrives twice

  /// the packet is held back by up to `reorder_delay`, and later packets overtake it
  double reorder = 0;
  Duration reorder_delay = std::chrono::microseconds(50);
  /// bandwidth; 0: no limit; else packets queue up at the sender
  std::uint64_t bits_per_second = 0;
  bool down = false;  ///< nothing passes; neighbours do not answer

  /// nothing passes; packets are kept and sent on when the link is no longer clogged
  bool clogged = false;
};

/// Whether devices find wrong uses of buffers, keys and queues by programs: docs/checkers.md.
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
  /// The links between hosts for which World::set_link was not called, and from a host to itself.
  LinkOptions link{};
  /// The order in which programs and network events run when several are ready.
  Schedule schedule{};
  /// The order in which RDMA devices make data visible in memory: the guarantees, and how devices
  /// choose within them.
  Memory memory{};
  /// Whether the world's devices find wrong uses of buffers, keys and queues by programs.
  Ownership ownership = Ownership::kOff;
  /// Those that are not reported.
  std::vector<Allowance> allow{};
  /// Checkers whose remarks are reported as mistakes.
  std::vector<std::string> deny{};
  /// Whether reports of a wrong use by a process contain two stacks: of the call that posted the
  /// request, and of the moment at which the device found the wrong use.
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
  std::size_t links = 2;  ///< the number of links; 1: no bond

  /// Whether the bond keeps its link address when it changes to another link (Linux:
  /// fail_over_mac=none), so that no neighbour notices. False: the bond has the address of the link
  /// in use (fail_over_mac=active).
  bool keeps_address = false;
};

/// One network interface. Defaults: one RoCE device with the interface's addresses as GIDs.
struct InterfaceOptions {
  std::vector<std::string> addresses;  ///< "192.0.2.1", "192.0.2.1/24", "2001:db8::1/64"
  std::string name{};                  ///< default: eth0, eth1 ...
  bool rdma = true;                    ///< false: an interface without RDMA

  /// The configuration of the RDMA device; absent: the defaults. Unless given, the device's name is
  /// anyrdmaN and its GUID is derived from the MAC address.
  std::optional<verbs::soft::HcaConfig> device{};
  /// The number of the device's port that the interface carries. Port 2 and higher belong to the
  /// device of the interface before, which carries the port before.
  std::uint8_t port = 1;
  BondOptions bond{};
};

/// The interfaces of a host, the addresses that it cannot reach, and its hardware.
struct HostOptions {
  std::vector<InterfaceOptions> interfaces;
  /// Networks that the host cannot reach ("198.51.100.0/24"): a connection to an address in them
  /// fails with EHOSTUNREACH. Any other address outside of the interfaces' networks fails with
  /// ENETUNREACH.
  std::vector<std::string> unreachable{};
  transport::soft::PortTableConfig ports{};
  HostDescription description{};  ///< what processes on the host see of it
};

}  // namespace anyrdma::sim
