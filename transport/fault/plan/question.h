// The questions of a process to its world. A process on a simulated host has no fault plan of its
// own, so that a fault is counted once for the whole host. It makes a system call that no kernel
// has; the supervisor answers it before any other thread can run.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "verbs/call_gate.h"

namespace anyrdma::fault {

/// The call's number; its arguments are the address of a Question and its size. It returns 0, or
/// -ENOSYS without a supervisor.
inline constexpr long kAskWorld = 1'000'001;

/// The questions that the world wants; others need not be asked.
struct Oversight {
  bool events = false;            ///< kQueued, kFetched
  bool calls = false;             ///< kMade
  bool refusals = false;          ///< kRefused
  bool states = false;            ///< kState
  bool gate = false;              ///< kCall, kWork, kFailure
  bool requests = false;          ///< kRequest
  bool takes = false;             ///< kTake
  bool acknowledgements = false;  ///< kAcknowledged
  bool work = false;              ///< kQueuePair, kPosted, kTaken, kRaised
  bool points = false;            ///< its calls are scheduling points
  bool later = false;             ///< what is only told may wait until the process stops
};

/// Filled in by who asks; who answers fills in the answer.
struct Question {
  enum class Kind : std::uint8_t {
    kOpened,   ///< a device: `error` says whether it is there, `port_down` what its port does,
               ///< `oversight` what to ask from now on; numbers of ids begin anew
    kQueued,   ///< `event` of `id` and `listener`, as transport::EventObserver has it
    kFetched,  ///< likewise
    kMade,     ///< call `word` on `id`, with errno `status`, as transport::CallObserver has it
    kRefused,  ///< likewise, before it came to the transport
    kState,    ///< `id` has come to the state `word`
    kRequest,  ///< a connection request has found its listener: `refused` and what follows it
    kCall,     ///< `word` on `id` is about to be made, as verbs::CallGate has it: `error`
    kWork,     ///< `work` was posted: `status`
    kFailure,  ///< of `work`, with `status`, was handed to the program
    kTake,     ///< the program is about to take something: returns once it has been slow enough
    kAcknowledged,  ///< an event that `id` owes was given back, as transport::EventObserver has it
    // What recordings say of a device's work (recording/work/work.h), of the queue pair
    // `work.qp_num`.
    kQueuePair,  ///< it has come to the state `word`
    kPosted,     ///< the operation `word` of `work.wr_id` and `work.length` bytes
    kTaken,      ///< the completion of `work.wr_id`, with `status`, `code` and `work.length` bytes
    kRaised,     ///< the asynchronous event `event`
  };

  Kind kind{};
  std::uint64_t id = 0;
  std::array<char, 40> word{};  ///< ends with a zero
  std::int32_t event = 0;
  std::uint64_t listener = 0;
  bool datagram = false;  ///< whether `id` is of a datagram service
  verbs::PostedWork work{};
  std::int32_t status = IBV_WC_SUCCESS;
  std::uint64_t code = 0;  ///< an ibv_wc_opcode

  std::int32_t error = 0;  ///< an errno
  bool port_down = false;
  Oversight oversight{};
  bool refused = false;
  bool unanswered = false;
  bool no_room = false;
  std::uint8_t mra = 0;  ///< of a request that goes on: an MRA's time exponent and 1; 0: none
  std::uint8_t reason = 0;
  std::uint8_t size = 0;  ///< of `data`
  std::array<std::uint8_t, 148> data{};

  /// What is longer is cut off: no name of ours is.
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

/// In the environment of a process on a simulated host, with any value: there is a world to ask.
inline constexpr const char* kWorldVariable = "ANYRDMA_WORLD";

}  // namespace anyrdma::fault
