// The system call by which a process on a simulated host asks the simulator about faults. The
// process itself has no fault plan, so that a fault is counted once for the whole host. No kernel
// has this system call. The simulator's supervisor answers it before another thread can run.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "verbs/call_gate.h"

namespace anyrdma::fault {

/// The number of the system call. Its arguments are the address and the size of a Question. It
/// returns 0, or -ENOSYS if no supervisor traces the process.
inline constexpr long kAskWorld = 1'000'001;

/// The reports that a process on a simulated host must make to the simulator.
struct Oversight {
  bool entries = false;  ///< the process reports events and calls of its ids (recording/work/ids.h)
  bool work = false;     ///< the process reports the work of its device (recording/work/observer.h)
  bool digests = false;  ///< reports of work have digests of messages

  /// The process stops when an event was queued or fetched, because that may trigger a fault.
  bool events = false;
  /// The process stops when a call was made or an id has changed its state, because that may
  /// trigger a fault.
  bool calls = false;
  bool gate = false;       ///< the process asks kCall, kWork and kFailure
  bool requests = false;   ///< the process asks kRequest
  bool routes = false;     ///< the process asks kRoute
  bool takes = false;      ///< the process asks kTake
  bool points = false;     ///< the process's calls are scheduling points
  bool ownership = false;  ///< the process reports mistakes with buffers (finding_call.h)
  bool stacks = false;     ///< reports of mistakes have the stacks of the postings
};

/// A question of a process to the simulator. The process fills in the question, and the supervisor
/// fills in the answer.
struct Question {
  enum class Kind : std::uint8_t {
    /// The process has opened its devices. Answer: `error` says whether there is one, `removed` and
    /// `ports_down` the state of each, `changes` the number of earlier changes to ask for,
    /// `oversight` the reports that the simulator wants. The numbers of ids begin again.
    kOpened,
    /// Asks for the change number `id`, from 0, of those that the host's devices have had. Answer:
    /// `change`.
    kChange,
    /// A program is about to resolve a route; answer: `error`.
    kRoute,
    /// A connection request has found its listener; answer: `refused` and what follows it.
    kRequest,
    /// The call `word` on `id` is about to be made, as in verbs::CallGate; answer: `error`.
    kCall,
    kWork,     ///< `work` was posted; answer: `status`
    kFailure,  ///< the program has polled the completion of `work`, which failed with `status`

    /// The program is about to fetch an event or to poll. The answer comes after the delay of the
    /// fault `slow-consumer`.
    kTake,
  };

  Kind kind{};
  std::uint64_t id = 0;
  std::array<char, 40> word{};  ///< ends with a zero byte
  verbs::PostedWork work{};
  std::int32_t status = IBV_WC_SUCCESS;

  std::int32_t error = 0;        ///< an errno
  std::uint32_t removed = 0;     ///< the bit 1 << n stands for the device n, from 0
  std::uint32_t ports_down = 0;  ///< likewise
  std::uint32_t changes = 0;
  /// A change of the device number `device`: it returned, or it got or lost an address.
  struct Change {
    std::uint8_t device = 0;
    std::uint8_t kind = 0;  ///< transport::soft::DeviceChange::Kind
    std::uint8_t bits = 0;
    bool new_guid = false;
    std::array<std::uint8_t, 16> address{};  ///< as a GID
  };
  Change change{};
  Oversight oversight{};
  bool refused = false;
  bool unanswered = false;
  bool no_room = false;
  /// For a request that is delivered: 1 + the time exponent of an MRA to send; 0: no MRA.
  std::uint8_t mra = 0;
  std::uint8_t reason = 0;
  std::uint8_t size = 0;  ///< number of bytes in `data`
  std::array<std::uint8_t, 148> data{};

  /// Sets the word. A longer text is truncated; all words that are used fit.
  void set_word(std::string_view text) {
    const std::size_t size_kept = text.size() < word.size() ? text.size() : word.size() - 1;
    text.copy(word.data(), size_kept);
    word[size_kept] = '\0';
  }
  [[nodiscard]] std::string_view text() const {
    const std::string_view all(word.data(), word.size());
    return all.substr(0, all.find('\0'));
  }
};
static_assert(std::is_trivially_copyable_v<Question>, "it is copied from process to process");

/// The environment variable that is set, to any value, in processes on simulated hosts.
inline constexpr const char* kWorldVariable = "ANYRDMA_WORLD";

}  // namespace anyrdma::fault
