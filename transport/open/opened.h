// An opened transport, the error of one that could not be opened, and the options.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/fabric/rendezvous/config.h"
#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/transport.h"
#include "transport/ucma/config.h"
#include "transport/udp/config.h"

namespace anyrdma::transport {

/// Owns a transport and everything that it needs.
class Opened {
 public:
  /// Retires. Precondition: all endpoints and verbs objects made with it are destroyed.
  virtual ~Opened() = default;

  /// The argument of cm::EventChannel::create.
  [[nodiscard]] virtual Transport& transport() = 0;

  /// The name of the opened transport, never "auto". A static string.
  [[nodiscard]] virtual const char* name() const = 0;

  /// True in a child made by fork() when the child cannot use this: it then abandons the object (it
  /// may leak it) and opens a new one. Cheap: no system call. Any thread.
  [[nodiscard]] virtual bool forked() const = 0;

  /// For exit(), when threads may still be inside. Peers see the connections end, and resources
  /// outside of the process's memory are released. Objects stay in memory; using or destroying them
  /// has no effect on others. Call it outside the critical section. A second call has no effect.
  virtual void retire() = 0;

  /// The state of each fault of OpenOptions so far, in the order of the plan. Outside the critical
  /// section.
  [[nodiscard]] virtual std::vector<fault::FaultStatus> faults() { return {}; }
};

/// The error of a transport that could not be opened.
struct OpenError {
  boost::system::error_code code;  ///< an errno value
  std::string sentence;            ///< for the user: the cause, and what to do about it
};

/// Used by OpenResult::value(): throws boost::system::system_error, whose what() is the sentence.
[[noreturn]] void throw_exception_from_error(const OpenError& error,
                                             const boost::source_location& where);

using OpenResult = boost::system::result<std::unique_ptr<Opened>, OpenError>;

/// The faults to inject below a program.
struct FaultOptions {
  fault::FaultPlan plan{};  ///< a part_of() one; empty: nothing
  std::uint64_t seed = 1;   ///< of its random numbers
  /// Called with each fault that happens, inside the critical section. May be empty.
  std::function<void(const fault::FaultStatus&)> on_fired{};
  /// Called whenever the counts of the n-th fault of the plan change, inside the critical section.
  /// May be empty.
  std::function<void(std::size_t, const fault::FaultStatus&)> on_counted{};
};

/// The file and the name for the recording of a process (docs/recording.md).
struct RecordOptions {
  std::string path{};  ///< a directory, or a file (record_file.h); empty: nothing is recorded
  std::string host{};  ///< the process's name in the recording; empty: PROGRAM[PID]
  /// Called with a sentence when the recording goes to another file, or is not written. May be
  /// empty.
  std::function<void(const std::string&)> say{};
};

/// Each transport uses the members that concern it.
struct OpenOptions {
  /// "fabric", also where "auto" comes to it: which fabric to join.
  fabric::FabricConfig fabric{};
  /// "udp": on which addresses.
  udp::UdpConfig udp{};
  /// "ucma", also where "rxe" and "auto" come to it: where the system's libraries are.
  ucma::UcmaConfig ucma{};
  /// "rxe": the network interface to have a link on. Empty: any that has one, else the first that
  /// suits.
  std::string interface {};
  /// "sim": the seed of the world. Unset: the existing world, or a new one with seed 1.
  std::optional<std::uint64_t> seed{};
  /// The faults to inject. Not for "sim", which has faults of its own.
  FaultOptions faults{};
  /// The recording. Not for "sim", whose worlds record (sim/options.h), and not with `asks_world`.
  RecordOptions record{};
  /// "fabric", in a process on a simulated host: the world has the fault plan and gets reports
  /// (transport/fault/plan/question.h).
  bool asks_world = false;
  /// Together with `asks_world`: what the device promises about memory. The world decides the rest.
  verbs::soft::MemoryProfile memory = verbs::soft::MemoryProfile::kStrict;
};

}  // namespace anyrdma::transport
