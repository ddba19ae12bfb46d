// The types for opening a transport: the options, the opened transport, and the error if it cannot
// be opened.
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

/// Owns an opened transport and everything that it needs.
class Opened {
 public:
  /// Calls retire() and destroys the objects. Precondition: all endpoints and verbs objects that
  /// were made with the transport are destroyed.
  virtual ~Opened() = default;

  /// Returns the transport, which cm::EventChannel::create needs.
  [[nodiscard]] virtual Transport& transport() = 0;

  /// Returns the name of the opened transport, which is never "auto". The text is never freed.
  [[nodiscard]] virtual const char* name() const = 0;

  /// True in a child made by fork() that cannot use this object. The child then abandons the object
  /// (it may leak it) and opens a new one. Makes no system call. Any thread.
  [[nodiscard]] virtual bool forked() const = 0;

  /// Call at exit(), when other threads may still use the transport. Peers see the connections end,
  /// and resources outside this process's memory are released. Objects stay in memory; to use or
  /// destroy them has no effect on other processes. Call it outside the critical section
  /// (verbs::Runtime::enter). A second call has no effect.
  virtual void retire() = 0;

  /// Returns the counts of each fault of OpenOptions so far, in the order of the plan. Call it
  /// outside the critical section (verbs::Runtime::enter).
  [[nodiscard]] virtual std::vector<fault::FaultStatus> faults() { return {}; }
};

/// The error of a transport that could not be opened.
struct OpenError {
  boost::system::error_code code;  ///< an errno value
  std::string sentence;            ///< one or two sentences for the user: the cause, and what to do
};

/// Throws boost::system::system_error, whose what() is the sentence. OpenResult::value() calls it
/// if there is no transport.
[[noreturn]] void throw_exception_from_error(const OpenError& error,
                                             const boost::source_location& where);

using OpenResult = boost::system::result<std::unique_ptr<Opened>, OpenError>;

/// The faults that a transport injects into a program's run.
struct FaultOptions {
  fault::FaultPlan plan{};  ///< a result of part_of(); empty: no faults
  std::uint64_t seed = 1;   ///< seed of the faults' random numbers

  /// A function that is called with each fault that happens, inside the critical section
  /// (verbs::Runtime::enter). May be empty.
  std::function<void(const fault::FaultStatus&)> on_fired{};
  /// A function that is called when the counts of the fault at this index of the plan change,
  /// inside the critical section (verbs::Runtime::enter). May be empty.
  std::function<void(std::size_t, const fault::FaultStatus&)> on_counted{};
};

/// The file to which a process writes its recording (docs/recording.md), and the process's name in
/// it.
struct RecordOptions {
  std::string path{};  ///< a directory, or a file (record_file.h); empty: nothing is recorded
  std::string host{};  ///< the process's name in the recording; empty: PROGRAM[PID]

  /// A function that is called with a sentence when the recording is written to another file than
  /// `path`, or is not written. May be empty.
  std::function<void(const std::string&)> say{};
};

/// The options for opening a transport. Each transport uses only the members that name it.
struct OpenOptions {
  /// For "fabric", and for "auto" if it opens that: the fabric to join.
  fabric::FabricConfig fabric{};
  /// For "udp": the addresses to use, and other settings.
  udp::UdpConfig udp{};
  /// For "ucma", and for "rxe" and "auto" if they open that: the directories of the system's
  /// libraries.
  ucma::UcmaConfig ucma{};
  /// For "rxe": the network interface whose Soft-RoCE link is used. Empty: any interface that has a
  /// link, else the first suitable one.
  std::string interface {};
  /// For "sim": the seed of the simulation. Unset: the simulation that exists, or a new one with
  /// seed 1.
  std::optional<std::uint64_t> seed{};
  /// The faults to inject. Not for "sim", which has its own faults.
  FaultOptions faults{};
  /// The recording to write. Not for "sim", which makes its own recordings (sim/options.h), and not
  /// with `asks_world`.
  RecordOptions record{};
  /// For "fabric", in a process on a simulated host: the simulator has the fault plan and gets
  /// reports (transport/fault/plan/question.h).
  bool asks_world = false;
  /// Together with `asks_world`: the memory order that the device guarantees. The simulator chooses
  /// among the allowed orders.
  verbs::soft::MemoryProfile memory = verbs::soft::MemoryProfile::kStrict;
};

}  // namespace anyrdma::transport
