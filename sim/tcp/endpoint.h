// One end of a TCP connection that behaves like Linux, without I/O: the caller passes in time and
// segments, and asks for segments to send. There is no congestion control, and no delay of small
// segments or acknowledgements: the throughput depends on the window, the link and its losses.
// Source: RFC 9293, RFC 6298; retries and times as of tcp(7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "verbs/time.h"

namespace anyrdma::sim::tcp {

using verbs::Duration;
using verbs::Instant;

/// Of a segment's header.
inline constexpr std::uint8_t kFin = 1;
inline constexpr std::uint8_t kSyn = 2;
inline constexpr std::uint8_t kRst = 4;
inline constexpr std::uint8_t kPush = 8;
inline constexpr std::uint8_t kAck = 16;

/// The window scale option: windows are sent in units of 2^7 bytes, except in SYN segments.
inline constexpr std::uint8_t kWindowScale = 7;
/// The most data that is sent at once.
inline constexpr std::size_t kSegmentMax = 4096;
/// The limit of unacknowledged data, and of received data that is not read, in bytes.
inline constexpr std::size_t kBufferMax = std::size_t{128} << 10;

/// A segment.
struct Segment {
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::uint8_t flags = 0;
  std::size_t window = 0;  ///< in bytes
  std::span<const std::uint8_t> data{};

  [[nodiscard]] bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};

/// Returns the answer (a reset) of a host to a segment that belongs to no connection. nullopt: no
/// answer.
[[nodiscard]] std::optional<Segment> answer_of_nobody(const Segment& segment);

/// Bytes in a row, taken from the front.
class ByteQueue {
 public:
  [[nodiscard]] std::size_t size() const { return bytes_.size() - begin_; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return std::span(bytes_).subspan(begin_);
  }
  void add(std::span<const std::uint8_t> bytes);
  void drop(std::size_t count);

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t begin_ = 0;
};

enum class State : std::uint8_t {
  kSynSent,      ///< it asks for a connection
  kSynReceived,  ///< it has answered a SYN
  kOpen,         ///< until both have finished, and have heard so
  kTimeWait,     ///< both ends have finished; repeated segments still get an answer
  kClosed,       ///< for good
};

/// How an idle connection is probed (TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT).
struct Keepalive {
  Duration idle{};          ///< until the first probe, since the last segment of the peer
  Duration interval{};      ///< between probes without an answer
  unsigned probes_max = 0;  ///< without an answer; then the connection fails with ETIMEDOUT
};

/// One end of a connection.
class Endpoint {
 public:
  /// Creates an endpoint that asks for a connection. `first`: its first sequence number.
  [[nodiscard]] static Endpoint connect(std::uint32_t first);
  /// Answers who does.
  [[nodiscard]] static Endpoint accept(std::uint32_t first, const Segment& request);

  [[nodiscard]] State state() const { return state_; }
  /// Whether it has asked for a connection that is neither made nor refused yet.
  [[nodiscard]] bool is_asking() const {
    return state_ == State::kSynSent || (asked_ && state_ == State::kSynReceived);
  }
  /// Returns why the connection was closed: ECONNREFUSED, ECONNRESET, ETIMEDOUT, or EPIPE (the peer
  /// had finished and then reset the connection). 0: no failure.
  [[nodiscard]] int error() const { return error_; }

  // --- for the program's side -------------------------------------------------------------------

  /// How much it takes now.
  [[nodiscard]] std::size_t room() const;
  /// Precondition: there is room.
  void write(std::span<const std::uint8_t> bytes);
  /// Nothing more is written.
  void finish() { finishing_ = true; }
  /// Stops reading: later data is answered by a reset.
  void stop_reading();
  /// Ends without a goodbye but a reset.
  void reset();
  /// Received data that is not read yet.
  [[nodiscard]] std::span<const std::uint8_t> received() const { return received_.bytes(); }
  void take(std::size_t count);
  /// Whether the peer has finished, and the program has taken all received data.
  [[nodiscard]] bool at_end() const { return peer_finished_ && received_.size() == 0; }

  /// Sets how an idle connection is probed (SO_KEEPALIVE). nullopt, the default: not at all.
  void set_keepalive(Instant now, const std::optional<Keepalive>& keepalive);

  // --- for the network's side -------------------------------------------------------------------
  void on_segment(Instant now, const Segment& segment);
  /// To be called when deadline() has come.
  void on_timer(Instant now);
  [[nodiscard]] std::optional<Instant> deadline() const;
  /// Returns when the host forgets the connection: 60 s after both ends have finished (TIME_WAIT),
  /// or after this end has finished, reads no more, and still waits for the end of the peer
  /// (FIN_WAIT_2). nullopt: not yet known. The endpoint itself does nothing at that time.
  [[nodiscard]] std::optional<Instant> forgotten_at() const { return forgotten_at_; }
  /// Returns the next segment to send. After each call of another function, call this one until it
  /// returns nullopt. The data of the segment is valid until the next call.
  [[nodiscard]] std::optional<Segment> next_segment(Instant now);

 private:
  using Offset = std::uint64_t;  ///< in the stream; 0 is the SYN

  explicit Endpoint(std::uint32_t first) : first_(first) {}
  [[nodiscard]] std::optional<Segment> next_request(Instant now);
  [[nodiscard]] std::optional<Segment> next_data(Instant now);
  [[nodiscard]] Segment bare(std::uint8_t flags) const;
  [[nodiscard]] std::size_t window() const;
  [[nodiscard]] Offset data_end() const { return data_begin_ + unsent_.size(); }
  [[nodiscard]] Offset offset_of(std::uint32_t sequence, std::uint32_t first, Offset near) const;
  void on_answer(Instant now, const Segment& segment);
  void on_crossing_request(const Segment& segment);
  void on_acknowledged(Instant now, Offset offset, const Segment& segment);
  void take_round_trip(Instant now);
  void on_data(Offset offset, const Segment& segment);
  void append_in_order(Offset offset, std::span<const std::uint8_t> data);
  void settle();
  void note_opened(Instant now);
  void keep_alive(Instant now);
  void note_lingering(Instant now);
  void arm(Instant now);
  void fail(int error);
  [[nodiscard]] bool is_end_acknowledged() const {
    return finishing_ && acknowledged_ > data_end();
  }

  State state_ = State::kSynSent;
  bool asked_ = false;  ///< by connect()
  int error_ = 0;
  std::uint32_t first_;           ///< our sequence number of offset 0
  std::uint32_t peer_first_ = 0;  ///< the peer's

  // Sending.
  ByteQueue unsent_;         ///< and what is not acknowledged
  Offset data_begin_ = 1;    ///< of its first byte
  Offset acknowledged_ = 0;  ///< by the peer: all before
  Offset next_ = 0;          ///< to be sent
  Offset sent_ = 0;          ///< the end of all that was ever sent
  std::size_t peer_window_ = 0;
  Offset window_told_at_ = 0;   ///< the peer's offset and ...
  Offset window_told_for_ = 0;  ///< ... ours when it said so
  bool finishing_ = false;
  bool resetting_ = false;
  bool one_at_a_time_ = false;  ///< since something was lost
  unsigned repeated_acks_ = 0;
  unsigned retries_ = 0;
  Duration srtt_{};  ///< smoothed round trip
  bool measured_ = false;
  /// the offset whose acknowledgement ends the measurement of a round trip
  std::optional<Offset> timed_;
  Instant timed_at_{};
  std::optional<Instant> deadline_;
  bool probing_ = false;  ///< whether it asks for a window, or whether the peer is there
  std::optional<std::uint32_t> stray_;  ///< somebody has acknowledged what was never sent

  // Receiving.
  ByteQueue received_;
  Offset expected_ = 0;                                ///< the next of the peer's
  std::map<Offset, std::vector<std::uint8_t>> early_;  ///< what came before its time
  std::optional<Offset> peer_end_;                     ///< where it has finished
  bool peer_finished_ = false;                         ///< and all before has come
  bool finished_first_ = false;                        ///< we had when it did so
  bool reading_ = true;
  bool acknowledge_ = false;     ///< at once
  unsigned unacknowledged_ = 0;  ///< segments
  Offset window_end_ = 0;        ///< as it was told to the peer

  // While nothing happens, and at the end.
  std::optional<Keepalive> keepalive_;
  std::optional<Instant> next_probe_;
  unsigned probes_ = 0;  ///< without an answer
  Instant heard_{};      ///< when the last valid segment came
  std::optional<Instant> forgotten_at_;
};

}  // namespace anyrdma::sim::tcp
