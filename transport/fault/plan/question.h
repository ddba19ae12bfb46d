// The system call by which a process on a simulated host asks about faults. The process has no
// fault plan, so that a fault is counted once for the whole host. No kernel has this system call;
// the simulator's supervisor answers it before another thread can run.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "verbs/call_gate.h"

namespace anyrdma::fault {

/// The number of the system call. Its arguments are the address of a Question and its size. Returns
/// 0, or -ENOSYS without a supervisor.
inline constexpr long kAskWorld = 1'000'001;

/// The reports that a process must make to its simulated world.
struct Oversight {
  bool entries = false;  ///< events and calls of its ids (recording/work/ids.h)
  bool work = false;     ///< work of its device (recording/work/observer.h)
  bool digests = false;  ///< with digests of messages
  /// The process stops when an event was queued or fetched, because a fault may be triggered.
  bool events = false;
  /// The process stops when a call was made or an id has changed its state, for the same reason.
  bool calls = false;
  bool gate = false;      ///< it asks kCall, kWork and kFailure
  bool requests = false;  ///< it asks kRequest
  bool takes = false;     ///< it asks kTake
  bool points = false;    ///< its calls are scheduling points
  bool ownership = false;  ///< mistakes with buffers are reported (finding_call.h) ...
  bool stacks = false;     ///< ... with the stacks of postings
};

/// The process fills in the question, the supervisor fills in the answer.
struct Question {
  enum class Kind : std::uint8_t {
    kOpened,   ///< a device: `error` says whether it is there, `port_down` what its port does,
               ///< `oversight` what the world wants from now on; numbers of ids begin anew
    kRequest,  ///< a connection request has found its listener: `refused` and what follows it
    kCall,     ///< `word` on `id` is about to be made, as verbs::CallGate has it: `error`
    kWork,     ///< `work` was posted: `status`
    kFailure,  ///< of `work`, with `status`, was handed to the program
    kTake,     ///< the program is about to fetch an event or to poll: answered after the delay of
               ///< `slow-consumer`
  };

  Kind kind{};
  std::uint64_t id = 0;
  std::array<char, 40> word{};  ///< ends with a zero
  verbs::PostedWork work{};
  std::int32_t status = IBV_WC_SUCCESS;

  std::int32_t error = 0;  ///< an errno
  bool port_down = false;
  Oversight oversight{};
  bool refused = false;
  bool unanswered = false;
  bool no_room = false;
  /// Time exponent + 1 of an MRA, for a request that is delivered; 0: no MRA.
  std::uint8_t mra = 0;
  std::uint8_t reason = 0;
  std::uint8_t size = 0;  ///< of `data`
  std::array<std::uint8_t, 148> data{};

  /// Sets the word. Longer texts are truncated; all words in use fit.
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

/// The environment variable, with any value, that tells a process that it is on a simulated host.
inline constexpr const char* kWorldVariable = "ANYRDMA_WORLD";

}  // namespace anyrdma::fault
