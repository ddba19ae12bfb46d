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
inline constexpr std::uint8_t kVersion = 2;
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
  kWaited = 17,       ///< a thread has waited, or waits still when the recording ends
  kFault = 18,        ///< a fault of the plan fires
  kStruck = 19,       ///< a message that the last fault has struck
  kNote = 20,         ///< a test or a program prints something
  kFinding = 21,      ///< a checker's report
  kMoment = 22,       ///< the last entry, of a lane if one is named, is where to look first
  kNewNumbers = 23,   ///< ids and queue pairs of a lane are others from now on, numbers begin again
  kGiven = 24,        ///< what a program connects, accepts or rejects with
  kRunning = 25,      ///< which thread does what is called, posted and taken from now on
  kEnd = 26,          ///< the run is over: verdict and hash. Nothing follows
  kOpened = 27,       ///< a queue pair was created, and is in RESET
  kPath = 28,         ///< the connection of a queue pair that has entered RTR or RTS
  kHeld = 29,         ///< the work that a queue pair holds (Held)
  kSharedQueue = 30,  ///< a shared receive queue: its limit, its end, what it holds (QueueStep)
  kKey = 31,          ///< a memory key gives access from now on, or no longer
  kAtomic = 32,       ///< an atomic operation was executed, or answered
  kTimers = 33,       ///< the armed timers of a device
  kLeft = 34,         ///< objects that were never destroyed, at the end
  kMistake = 35,      ///< the program has made a mistake: what, and the stack
  kUnheard = 36,      ///< a CM message between two hosts was lost or not accepted
  kDisorder = 37,     ///< packets may be reordered or duplicated from now on
  kGone = 38,         ///< a process has ended: its ids and objects are gone without a call
  kRest = 39,         ///< nothing is left that could happen
  kClosing = 40,      ///< the world is being destroyed; how many programs had not ended
  kChosen = 41,       ///< the schedule let something else go on than what was ready first
};
inline constexpr std::size_t kKinds = 42;

/// The flags of kPosted.
enum PostedFlag : std::uint64_t {
  kSignaled = 1,
  kHasDigest = 2,  ///< likewise of kCompleted
};
/// The flags of kCompleted.
enum CompletedFlag : std::uint64_t {
  kOfReceive = 1,
  kDropped = 4,      ///< the completion queue has dropped completions before
  kInvalidates = 8,  ///< the message has invalidated the key
};
/// The moment at which the work in a kHeld entry was counted.
enum class Held : std::uint64_t {
  kAtRest = 0,
  kReset = 1,      ///< the queue pair went to RESET, which discarded the work
  kDestroyed = 2,  ///< the queue pair was destroyed, and the work with it
};
/// The steps in the life of a shared receive queue.
enum class QueueStep : std::uint64_t {
  kHolds = 0,
  kLimitSet = 1,
  kLimitReached = 2,
  kDestroyed = 3
};

/// The fields behind an entry's kind and time, a letter each. Numbers: `n` any, `z` one that may be
/// negative, `d` a duration, `l` a lane, `L` 1 + a lane or 0, `m` a message; lanes and messages
/// have come before. `t` a text that is written in full once only, `b` bytes.
inline constexpr std::array<std::string_view, kKinds> kShapes{
    "",         // none
    "tb",       // kAbout: key, value
    "ttL",      // kLane: what it is, name, the lane that it is in
    "lLtbn",    // kSent: from, to, both GIDs, the packet's fields, UDP source port
    "mL",       // kCopied: message, to
    "md",       // kArrives: message, so much later
    "mtL",      // kLost: message, why, where
    "ltn",      // kIgnored: lane, why, attribute of the message
    "lnnnznb",  // kQueued: lane, id, listener or 0, event, status, 1: of a datagram service,
                // the event's parameters
    "lnnb",     // kFetched: lane, id, event, of CONNECT_REQUEST both addresses
    "ln",       // kAcknowledged: lane, the id that owes it
    "lntnn",    // kCalled: lane, id, name, errno, 1: refused before it reached the transport
    // kPosted: lane, queue pair or 0, operation, wr_id, bytes, flags, shared receive queue or 0,
    // the key that it names or 0, digest of the bytes
    "lntnnnnnn",
    // kCompleted: lane, queue pair, wr_id, opcode, status, bytes, flags, shared receive queue or 0,
    // invalidated key, digest of the bytes
    "lnnnnnnnnn",
    "lnn",    // kAsync: lane, event, queue pair or 0
    "lnt",    // kIdState: lane, id, state
    "lnt",    // kQueuePairState: lane, queue pair, state
    "ldtnb",  // kWaited: lane, for how long, for what, 1: it has ended, details
    "ttb",    // kFault: the plan's line, kind of the action, private data that it brings
    "m",      // kStruck: message
    "Lnb",    // kNote: lane; 0: a note, 1: standard output, 2: standard error; text
    "bb",     // kFinding: text, stack
    "bL",     // kMoment: why, lane
    "l",      // kNewNumbers: lane
    // kGiven: lane, id, call, queue pair, responder resources, initiator depth, 1: of a datagram
    // service; both addresses, private data
    "lntnnnnbb",
    "L",        // kRunning: lane
    "tn",       // kEnd: verdict, hash
    "lnnn",     // kOpened: lane, queue pair, type, shared receive queue or 0
    "lnnnnnb",  // kPath: lane, queue pair, peer's, PSN to receive, PSN to send, MTU; both GIDs
    // kHeld: lane, queue pair, when, sends, those of them that are signaled, receives, completions
    // of sends and of receives that were not polled, 1: a completion queue has lost some, timers
    "lnnnnnnnnn",
    "lnnnn",  // kSharedQueue: lane, queue, step, receives, limit
    "lnn",    // kKey: lane, key, 1: gives access
    "lnnnn",  // kAtomic: lane, queue pair, PSN, what was there, 1: executed, 0: answered
    "lnn",    // kTimers: lane, armed, of them those with an owner
    "lnt",    // kLeft: lane, how many, of what
    "lbb",    // kMistake: lane, text, stack
    "lL",     // kUnheard: lane of one host, of the other
    "",       // kDisorder
    "l",      // kGone: lane
    "n",      // kRest: how many programs wait for ever
    "n",      // kClosing: how many programs have not ended
    "Lnn",    // kChosen: lane of the thread that goes on, or 0: the network; point, choice
};

/// Whether an entry of this kind reports an action of the running thread.
[[nodiscard]] constexpr bool is_deed(EntryKind kind) {
  return kind == EntryKind::kFetched || kind == EntryKind::kAcknowledged ||
         kind == EntryKind::kCalled || kind == EntryKind::kPosted || kind == EntryKind::kCompleted;
}

/// Whether an entry of this kind adds a message to the recording.
[[nodiscard]] constexpr bool is_message(EntryKind kind) {
  return kind == EntryKind::kSent || kind == EntryKind::kCopied;
}

}  // namespace anyrdma::recording
