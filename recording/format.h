// The file format of recordings; docs/recording.md describes it. Entries contain only what has just
// become known, so a file can be read up to any cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyrdma::recording {

/// The first bytes of every file; the version follows as one byte.
inline constexpr std::string_view kMagic = "ANYRDMA\x1a";
inline constexpr std::uint8_t kVersion = 1;
/// The longest text or byte field of an entry; a longer one is truncated.
inline constexpr std::size_t kTextBytesMax = 32'768;
/// The longest entry.
inline constexpr std::size_t kEntryBytesMax = 4 * kTextBytesMax;

/// The kind of an entry. 0 is the end of an unfinished file, which grows by blocks of zeros.
enum class EntryKind : std::uint8_t {
  kAbout = 1,          ///< of the run as a whole: a key and a value
  kLane = 2,           ///< a new lane; lanes count from 0
  kSent = 3,           ///< a message leaves; messages count from 0
  kCopied = 4,         ///< a message goes the same way once more, and is one more message
  kArrives = 5,        ///< when a message will be there
  kLost = 6,           ///< why a message never arrives, or where it did not help
  kIgnored = 7,        ///< a host's CM has no use for a message
  kQueued = 8,         ///< a CM event enters its channel
  kFetched = 9,        ///< the program takes one
  kAcknowledged = 10,  ///< the program gives one back
  kCalled = 11,        ///< a call on an id has had its effect, or failed
  kPosted = 12,        ///< work for a queue pair
  kCompleted = 13,     ///< a completion that the program took
  kAsync = 14,         ///< an asynchronous event of a device
  kIdState = 15,
  kQueuePairState = 16,
  kWaited = 17,      ///< a thread has waited, or waits still when the recording ends
  kFault = 18,       ///< a fault of the plan fires
  kStruck = 19,      ///< a message that the last fault has struck
  kNote = 20,        ///< a test or a program prints something
  kFinding = 21,     ///< a checker's report
  kMoment = 22,      ///< the last entry, of a lane if one is named, is where to look first
  kNewNumbers = 23,  ///< ids and queue pairs of a lane are others from now on, numbers begin again
  kGiven = 24,       ///< with which queue pair a program connects or accepts
  kRunning = 25,     ///< which thread does what is called, posted and taken from now on
  kEnd = 26,         ///< the run is over: verdict and hash. Nothing follows
  kChosen = 27,      ///< the schedule let something else go on than what was ready first
};
inline constexpr std::size_t kKinds = 28;

/// The fields behind an entry's kind and time, a letter each. Numbers: `n` any, `z` one that may be
/// negative, `d` a duration, `l` a lane, `L` 1 + a lane or 0, `m` a message; lanes and messages
/// have come before. `t` a text that is written in full once only, `b` bytes.
inline constexpr std::array<std::string_view, kKinds> kShapes{
    "",        // none
    "tb",      // kAbout: key, value
    "ttL",     // kLane: what it is, name, the lane that it is in
    "lLtbn",   // kSent: from, to, both GIDs, the packet's fields, UDP source port
    "mL",      // kCopied: message, to
    "md",      // kArrives: message, so much later
    "mtL",     // kLost: message, why, where
    "ltn",     // kIgnored: lane, why, attribute of the message
    "lnnnzb",  // kQueued: lane, id, listener or 0, event, status, the rest of the event
    "lnn",     // kFetched: lane, id, event
    "ln",      // kAcknowledged: lane, the id that owes it
    "lntn",    // kCalled: lane, id, name, errno
    "lntnn",   // kPosted: lane, queue pair, operation, wr_id, bytes
    "lnnnnn",  // kCompleted: lane, queue pair, wr_id, opcode, status, bytes
    "lnn",     // kAsync: lane, event, queue pair or 0
    "lnt",     // kIdState: lane, id, state
    "lnt",     // kQueuePairState: lane, queue pair, state
    "ldtnb",   // kWaited: lane, for how long, for what, 1: it has ended, details
    "t",       // kFault: the plan's line
    "m",       // kStruck: message
    "Lnb",     // kNote: lane; 0: a note, 1: standard output, 2: standard error; text
    "bb",      // kFinding: text, stack
    "bL",      // kMoment: why, lane
    "l",       // kNewNumbers: lane
    "lnn",     // kGiven: lane, id, queue pair
    "L",       // kRunning: lane
    "tn",      // kEnd: verdict, hash
    "Lnn",     // kChosen: lane of the thread that goes on, or 0: the network; point, choice
};

/// Whether an entry of this kind is one more message.
[[nodiscard]] constexpr bool is_message(EntryKind kind) {
  return kind == EntryKind::kSent || kind == EntryKind::kCopied;
}

}  // namespace anyrdma::recording
