// The file format of recordings, which docs/recording.md describes. Each entry contains only what
// was known when it was written, so a file that was cut off at any place can be read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyrdma::recording {

/// The first bytes of every recording file. The version follows as one byte.
inline constexpr std::string_view kMagic = "ANYRDMA\x1a";
inline constexpr std::uint8_t kVersion = 2;
/// The largest number of bytes in a text or byte field of an entry. Longer fields are truncated.
inline constexpr std::size_t kTextBytesMax = 32'768;
/// The largest number of bytes of an entry.
inline constexpr std::size_t kEntryBytesMax = 4 * kTextBytesMax;

/// The kind of an entry. 0 marks the end of an unfinished file, which grows by blocks of zeros.
enum class EntryKind : std::uint8_t {
  kAbout = 1,          ///< a property of the whole run: a key and a value
  kLane = 2,           ///< a new lane (timeline row); lanes are numbered from 0
  kSent = 3,           ///< a host sends a message; messages are numbered from 0
  kCopied = 4,         ///< a message is duplicated: the copy has a number of its own
  kArrives = 5,        ///< the time at which a message will arrive
  kLost = 6,           ///< the reason why a message does not arrive, or has no effect
  kIgnored = 7,        ///< a host's CM ignores a message
  kQueued = 8,         ///< a CM event enters its channel
  kFetched = 9,        ///< the program fetches a CM event
  kAcknowledged = 10,  ///< the program acknowledges a CM event
  kCalled = 11,        ///< a call on an id has had its effect, or failed
  kPosted = 12,        ///< a work request was posted to a queue pair
  kCompleted = 13,     ///< the program has polled a completion
  kAsync = 14,         ///< an asynchronous event of a device
  kIdState = 15,
  kQueuePairState = 16,
  kWaited = 17,   ///< a thread has waited, or still waits when the recording ends
  kFault = 18,    ///< a fault of the plan fires
  kStruck = 19,   ///< names a message that the last fault has changed, delayed or lost
  kNote = 20,     ///< a test or a program prints something
  kFinding = 21,  ///< a checker's report

  /// The last entry, of the named lane if there is one, is where a user should look first.
  kMoment = 22,
  /// From now on a lane's ids and queue pairs are new ones, whose numbers begin again.
  kNewNumbers = 23,
  kGiven = 24,    ///< the parameters with which a program connects, accepts or rejects
  kRunning = 25,  ///< names the thread that does the calls, posts and polls that follow
  kEnd = 26,      ///< the run is over: its verdict and hash; the last entry
  kOpened = 27,   ///< a queue pair was created, and is in RESET
  kPath = 28,     ///< the connection of a queue pair that has entered RTR or RTS
  kHeld = 29,     ///< the number of requests that a queue pair holds (Held)

  /// A step of a shared receive queue: its limit, its end, or its number of receives (QueueStep).
  kSharedQueue = 30,
  kKey = 31,       ///< a memory key gives access from now on, or no longer
  kAtomic = 32,    ///< an atomic operation was executed, or answered
  kTimers = 33,    ///< the armed timers of a device
  kLeft = 34,      ///< objects that exist at the end and were never destroyed
  kMistake = 35,   ///< a mistake of the program: its description and the stack
  kUnheard = 36,   ///< a CM message between two hosts was lost or not accepted
  kDisorder = 37,  ///< packets may be reordered or duplicated from now on
  kGone = 38,      ///< a process has ended: its ids and objects are gone without a call
  kRest = 39,      ///< nothing is left that could happen in the run

  /// The simulated world is being destroyed, with this number of programs that had not ended.
  kClosing = 40,
  /// The schedule let another thread or the network continue than the one that was ready first.
  kChosen = 41,
};
inline constexpr std::size_t kKinds = 42;

/// The flags of kPosted.
enum PostedFlag : std::uint64_t {
  kSignaled = 1,
  kHasDigest = 2,  ///< the entry has a digest of the message's bytes (also a flag of kCompleted)
};
/// The flags of kCompleted.
enum CompletedFlag : std::uint64_t {
  kOfReceive = 1,
  kDropped = 4,      ///< the completion queue has dropped completions before
  kInvalidates = 8,  ///< the message has invalidated the key
};
/// The moment at which the requests in a kHeld entry were counted.
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

/// The fields of each kind of entry, which follow its kind and time, one letter for each field.
/// Numbers: `n` any number, `z` one that may be negative, `d` a duration, `l` a lane, `L` 1 + a
/// lane or 0, `m` a message. Other fields: `t` a text that is written in full only once, `b` bytes.
/// The lanes and messages that an entry names come before it.
inline constexpr std::array<std::string_view, kKinds> kShapes{
    "",     // none
    "tb",   // kAbout: key, value
    "ttL",  // kLane: what it is, name, the lane that it is in

    // Fields of kSent: sending lane, receiving lane, both GIDs, the packet's fields, UDP source
    // port.
    "lLtbn",
    "mL",   // kCopied: message, to
    "md",   // kArrives: message, so much later
    "mtL",  // kLost: message, why, where
    "ltn",  // kIgnored: lane, why, attribute of the message

    // Fields of kQueued: lane, id, listener or 0, event, status, 1 for a datagram service (else 0),
    // the event's parameters.
    "lnnnznb",
    "lnnb",  // fields of kFetched: lane, id, event, both addresses of a CONNECT_REQUEST
    "ln",    // fields of kAcknowledged: lane, the id that counts the event

    // Fields of kCalled: lane, id, call's name, errno, 1 if refused before it reached the
    // transport.
    "lntnn",
    // Fields of kPosted: lane, queue pair or 0, operation, wr_id, bytes, flags, shared receive
    // queue or 0, the key that the request names or 0, digest of the bytes.
    "lntnnnnnn",
    // Fields of kCompleted: lane, queue pair, wr_id, opcode, status, bytes, flags, shared receive
    // queue or 0, invalidated key, digest of the bytes.
    "lnnnnnnnnn",
    "lnn",    // kAsync: lane, event, queue pair or 0
    "lnt",    // kIdState: lane, id, state
    "lnt",    // kQueuePairState: lane, queue pair, state
    "ldtnb",  // fields of kWaited: lane, duration, purpose, 1 if the wait has ended, details

    // Fields of kFault: the plan's line, kind of the action, private data that the action sends.
    "ttb",
    "m",  // kStruck: message

    // Fields of kNote: lane, 0 for a note or 1 for standard output or 2 for standard error, text.
    "Lnb",
    "bb",  // kFinding: text, stack
    "bL",  // kMoment: why, lane
    "l",   // kNewNumbers: lane

    // Fields of kGiven: lane, id, call, queue pair, responder resources, initiator depth, 1 for a
    // datagram service (else 0), both addresses, private data.
    "lntnnnnbb",
    "L",     // kRunning: lane
    "tn",    // kEnd: verdict, hash
    "lnnn",  // kOpened: lane, queue pair, type, shared receive queue or 0

    // Fields of kPath: lane, queue pair, peer's queue pair, PSN to receive, PSN to send, MTU, GIDs.
    "lnnnnnb",
    // Fields of kHeld: lane, queue pair, moment (Held), sends, signaled sends, receives, unpolled
    // completions of sends, unpolled completions of receives, 1 if a completion queue has dropped
    // completions, timers.
    "lnnnnnnnnn",
    "lnnnn",  // kSharedQueue: lane, queue, step, receives, limit
    "lnn",    // kKey: lane, key, 1: gives access

    // Fields of kAtomic: lane, queue pair, PSN, the memory's old value, 1: executed, 0: answered.
    "lnnnn",
    "lnn",  // kTimers: lane, armed, of them those with an owner
    "lnt",  // kLeft: lane, how many, of what
    "lbb",  // kMistake: lane, text, stack
    "lL",   // kUnheard: lane of one host, of the other
    "",     // kDisorder
    "l",    // kGone: lane
    "n",    // kRest: how many programs wait for ever
    "n",    // kClosing: how many programs have not ended

    // Fields of kChosen: lane of the thread that continues (0: the network), point, choice.
    "Lnn",
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
