#include "sim/tcp/endpoint.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "verbs/assert.h"

namespace anyrdma::sim::tcp {
namespace {

using namespace std::chrono_literals;

// tcp_syn_retries, tcp_synack_retries, tcp_retries2 and what a socket that nobody has any more
// tries.
constexpr unsigned kRequestRetries = 6;
constexpr unsigned kAnswerRetries = 5;
constexpr unsigned kDataRetries = 15;
constexpr unsigned kOrphanRetries = 8;
constexpr Duration kFirstTimeout = 1s;
constexpr Duration kTimeoutMin = 200ms;
constexpr Duration kTimeoutMax = 120s;
// TCP_TIMEWAIT_LEN and tcp_fin_timeout.
constexpr Duration kForgottenAfter = 60s;
constexpr unsigned kRepeatedAcks = 3;
constexpr std::size_t kUnscaledWindowMax = 0xffff;

std::size_t length_of(const Segment& segment) {
  return segment.data.size() + (segment.has(kSyn) ? 1 : 0) + (segment.has(kFin) ? 1 : 0);
}

}  // namespace

std::optional<Segment> answer_of_nobody(const Segment& segment) {
  if (segment.has(kRst)) return std::nullopt;
  if (segment.has(kAck)) return Segment{.sequence = segment.acknowledged, .flags = kRst};
  return Segment{.acknowledged = segment.sequence + static_cast<std::uint32_t>(length_of(segment)),
                 .flags = kRst | kAck};
}

void ByteQueue::add(std::span<const std::uint8_t> bytes) {
  if (begin_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void ByteQueue::drop(std::size_t count) {
  CM_ASSERT(count <= size());
  begin_ += count;
  if (begin_ != bytes_.size()) return;
  bytes_.clear();
  begin_ = 0;
}

Endpoint Endpoint::connect(std::uint32_t first) {
  Endpoint endpoint(first);
  endpoint.asked_ = true;
  return endpoint;
}

Endpoint Endpoint::accept(std::uint32_t first, const Segment& request) {
  Endpoint endpoint(first);
  endpoint.state_ = State::kSynReceived;
  endpoint.peer_first_ = request.sequence;
  endpoint.peer_window_ = request.window;
  endpoint.expected_ = 1;
  return endpoint;
}

// --- the program's side -------------------------------------------------------------------------

std::size_t Endpoint::room() const {
  if (state_ != State::kOpen || finishing_ || resetting_) return 0;
  return kBufferMax - std::min(kBufferMax, unsent_.size());
}

void Endpoint::write(std::span<const std::uint8_t> bytes) {
  CM_ASSERT(bytes.size() <= room());
  unsent_.add(bytes);
}

void Endpoint::stop_reading() {
  reading_ = false;
  if (received_.size() != 0) reset();  // it was lost, and the peer is to know
}

void Endpoint::reset() {
  if (state_ != State::kClosed) resetting_ = true;
}

void Endpoint::take(std::size_t count) {
  received_.drop(count);
  // Who was told of no more room than this waits for a word.
  const Offset end = expected_ + window();
  if (end >= window_end_ + std::min(kBufferMax / 2, 2 * kSegmentMax)) acknowledge_ = true;
}

void Endpoint::set_keepalive(Instant now, const std::optional<Keepalive>& keepalive) {
  const bool was_on = keepalive_.has_value();
  const bool is_new = keepalive && (!was_on || keepalive_->idle != keepalive->idle);
  keepalive_ = keepalive;
  if (!keepalive_) next_probe_.reset();
  if (!is_new || state_ != State::kOpen) return;
  // As Linux: from now on when it is switched on, else since the peer was heard.
  next_probe_ = std::max(now, (was_on ? heard_ : now) + keepalive_->idle);
}

// --- segments that come in ----------------------------------------------------------------------

Endpoint::Offset Endpoint::offset_of(std::uint32_t sequence, std::uint32_t first,
                                     Offset near) const {
  const auto there = first + static_cast<std::uint32_t>(near);
  const auto distance = static_cast<std::int32_t>(sequence - there);
  // What is before the beginning is as old as can be.
  if (distance < 0 && static_cast<Offset>(-static_cast<std::int64_t>(distance)) > near) return 0;
  return near + static_cast<Offset>(static_cast<std::int64_t>(distance));
}

void Endpoint::on_segment(Instant now, const Segment& segment) {
  if (state_ == State::kClosed || resetting_) return;
  if (state_ == State::kSynSent) return on_answer(now, segment);
  const Offset offset = offset_of(segment.sequence, peer_first_, expected_);
  if (segment.has(kRst)) {
    // Any other is old, or a guess.
    if (offset == expected_) fail(peer_finished_ ? EPIPE : ECONNRESET);
    return;
  }
  if (segment.has(kSyn)) {
    const bool again = state_ == State::kSynReceived && segment.sequence == peer_first_;
    if (again && !segment.has(kAck)) next_ = 0;
    if (!again) acknowledge_ = true;  // who has forgotten the connection answers with a reset
    if (!again || !segment.has(kAck)) return;
  }
  if (!segment.has(kAck)) return;
  const Offset acknowledged = offset_of(segment.acknowledged, first_, acknowledged_);
  if (acknowledged > sent_) {
    acknowledge_ = true;
    return;
  }
  if (state_ == State::kSynReceived) {
    if (acknowledged == 0) return;
    note_opened(now);
  }
  if (offset >= expected_) {  // Linux does not count what is repeated
    heard_ = now;
    probes_ = 0;
  }
  on_acknowledged(now, acknowledged, segment);
  on_data(offset, segment);
  settle();
  arm(now);
}

/// While it asks for a connection.
void Endpoint::on_answer(Instant now, const Segment& segment) {
  const bool is_for_us = segment.has(kAck) && sent_ == 1 && segment.acknowledged == first_ + 1;
  if (segment.has(kAck) && !is_for_us) {
    if (!segment.has(kRst)) stray_ = segment.acknowledged;
    return;
  }
  if (segment.has(kRst)) {
    if (is_for_us) fail(ECONNREFUSED);
    return;
  }
  if (!segment.has(kSyn)) return;
  if (!is_for_us) return on_crossing_request(segment);
  note_opened(now);
  peer_first_ = segment.sequence;
  expected_ = 1;
  take_round_trip(now);
  acknowledged_ = next_ = 1;
  peer_window_ = segment.window;
  window_told_for_ = 1;
  retries_ = 0;
  one_at_a_time_ = false;
  acknowledge_ = true;
  deadline_.reset();
  arm(now);
}

/// Both ends have asked at once: each answers the request of the other (RFC 9293, 3.5).
void Endpoint::on_crossing_request(const Segment& segment) {
  state_ = State::kSynReceived;
  peer_first_ = segment.sequence;
  peer_window_ = segment.window;
  expected_ = 1;
  next_ = 0;
}

void Endpoint::on_acknowledged(Instant now, Offset offset, const Segment& segment) {
  const Offset theirs = offset_of(segment.sequence, peer_first_, expected_);
  const bool same_window = segment.window == peer_window_;
  if (theirs > window_told_at_ || (theirs == window_told_at_ && offset >= window_told_for_)) {
    window_told_at_ = theirs;
    window_told_for_ = offset;
    peer_window_ = segment.window;
  }
  if (offset < acknowledged_) return;
  if (offset > acknowledged_ || acknowledged_ == sent_) retries_ = 0;
  if (offset == acknowledged_) {
    const bool repeated = length_of(segment) == 0 && same_window && acknowledged_ < sent_;
    if (repeated && ++repeated_acks_ == kRepeatedAcks) {
      next_ = acknowledged_;
      one_at_a_time_ = true;
      timed_.reset();
    }
    return;
  }
  if (timed_ && offset >= *timed_) take_round_trip(now);
  const Offset data = std::min(offset, data_end());
  if (data > data_begin_) {
    unsent_.drop(data - data_begin_);
    data_begin_ = data;
  }
  acknowledged_ = offset;
  // What comes behind what was lost has been lost as well, as far as is known.
  if (one_at_a_time_ && offset < sent_) {
    next_ = offset;
  } else {
    one_at_a_time_ = false;
  }
  next_ = std::max(next_, offset);
  repeated_acks_ = 0;
  deadline_.reset();
}

void Endpoint::take_round_trip(Instant now) {
  if (!timed_) return;
  const Duration sample = now - timed_at_;
  srtt_ = measured_ ? srtt_ + (sample - srtt_) / 8 : sample;
  measured_ = true;
  timed_.reset();
}

void Endpoint::on_data(Offset offset, const Segment& segment) {
  if (length_of(segment) == 0) {
    if (offset < expected_) acknowledge_ = true;  // a question whether anybody is there
    return;
  }
  if (!segment.data.empty() && !reading_ && offset + segment.data.size() > expected_) {
    return reset();
  }
  if (segment.has(kFin)) {
    peer_end_ = offset + segment.data.size();
    forgotten_at_.reset();  // a minute after the last one
  }
  const Offset before = expected_;
  append_in_order(offset, segment.data);
  while (!early_.empty() && early_.begin()->first <= expected_) {
    const auto first = early_.extract(early_.begin());
    append_in_order(first.key(), first.mapped());
  }
  if (peer_end_ && expected_ == *peer_end_ && !peer_finished_) {
    peer_finished_ = true;
    ++expected_;
  }
  // One for two segments, and one for the last.
  const bool in_order = before != expected_ && early_.empty();
  if (!in_order || segment.has(kPush) || segment.has(kFin) || ++unacknowledged_ >= 2)
    acknowledge_ = true;
}

void Endpoint::append_in_order(Offset offset, std::span<const std::uint8_t> data) {
  if (offset > expected_) {
    if (!data.empty() && offset + data.size() <= window_end_)
      early_.try_emplace(offset, data.begin(), data.end());
    return;
  }
  const Offset old = expected_ - offset;
  if (old >= data.size() || peer_finished_) return;
  const auto news = data.subspan(old);
  const auto taken = news.first(std::min(news.size(), kBufferMax - received_.size()));
  received_.add(taken);
  expected_ += taken.size();
}

/// Whether both have finished, and know.
void Endpoint::settle() {
  if (state_ != State::kOpen || !is_end_acknowledged() || !peer_finished_) return;
  state_ = finished_first_ ? State::kTimeWait : State::kClosed;
}

void Endpoint::note_opened(Instant now) {
  state_ = State::kOpen;
  heard_ = now;
  if (keepalive_) next_probe_ = now + keepalive_->idle;
}

void Endpoint::note_lingering(Instant now) {
  const bool waits_for_end =
      state_ == State::kOpen && is_end_acknowledged() && !peer_finished_ && !reading_;
  if (!forgotten_at_ && (waits_for_end || state_ == State::kTimeWait))
    forgotten_at_ = now + kForgottenAfter;
}

void Endpoint::fail(int error) {
  state_ = State::kClosed;
  error_ = error;
  acknowledge_ = false;
  deadline_.reset();
}

// --- time ---------------------------------------------------------------------------------------

void Endpoint::arm(Instant now) {
  const bool asks = state_ == State::kSynSent || state_ == State::kSynReceived;
  const bool waits = acknowledged_ < sent_ || (state_ == State::kOpen && next_ < data_end());
  if (state_ == State::kClosed || state_ == State::kTimeWait || !waits) {
    deadline_.reset();
    return;
  }
  if (deadline_) return;
  Duration timeout = asks ? kFirstTimeout : kTimeoutMin + srtt_;
  for (unsigned i = 0; i < retries_ && timeout < kTimeoutMax; ++i) timeout *= 2;
  deadline_ = now + std::min(timeout, kTimeoutMax);
}

std::optional<Instant> Endpoint::deadline() const {
  if (state_ != State::kOpen || !next_probe_) return deadline_;
  return deadline_ ? std::min(*deadline_, *next_probe_) : next_probe_;
}

/// Source: tcp_keepalive_timer() of Linux.
void Endpoint::keep_alive(Instant now) {
  next_probe_.reset();
  if (!keepalive_ || state_ != State::kOpen || resetting_) return;
  const bool is_sending = acknowledged_ < sent_ || next_ < data_end();  // retransmission notices
  const Instant due = is_sending ? now + keepalive_->idle : heard_ + keepalive_->idle;
  if (due > now) {
    next_probe_ = due;
  } else if (probes_ < keepalive_->probes_max) {
    ++probes_;
    probing_ = true;
    next_probe_ = now + keepalive_->interval;
  } else {
    error_ = ETIMEDOUT;
    resetting_ = true;
  }
}

void Endpoint::on_timer(Instant now) {
  if (next_probe_ && *next_probe_ <= now) keep_alive(now);
  if (!deadline_ || *deadline_ > now) return;
  deadline_.reset();
  unsigned retries_max = finishing_ && !reading_ ? kOrphanRetries : kDataRetries;
  if (state_ == State::kSynSent) retries_max = kRequestRetries;
  if (state_ == State::kSynReceived) retries_max = kAnswerRetries;
  if (retries_ >= retries_max) return fail(ETIMEDOUT);
  ++retries_;
  timed_.reset();
  if (acknowledged_ < sent_) {
    next_ = acknowledged_;
    one_at_a_time_ = true;
  } else {
    probing_ = true;
  }
  arm(now);
}

// --- segments that go out -----------------------------------------------------------------------

std::size_t Endpoint::window() const {
  const std::size_t free = kBufferMax - std::min(kBufferMax, received_.size());
  return free >> kWindowScale << kWindowScale;
}

Segment Endpoint::bare(std::uint8_t flags) const {
  return {.sequence = first_ + static_cast<std::uint32_t>(next_),
          .acknowledged = peer_first_ + static_cast<std::uint32_t>(expected_),
          .flags = flags,
          .window = window()};
}

std::optional<Segment> Endpoint::next_segment(Instant now) {
  note_lingering(now);
  if (stray_) return Segment{.sequence = *std::exchange(stray_, std::nullopt), .flags = kRst};
  if (state_ == State::kClosed) return std::nullopt;
  if (resetting_) {
    const bool is_known = state_ != State::kSynSent;
    state_ = State::kClosed;
    deadline_.reset();
    acknowledge_ = false;
    if (!is_known) return std::nullopt;
    Segment segment = bare(kRst | kAck);
    segment.sequence = first_ + static_cast<std::uint32_t>(sent_);
    return segment;
  }
  std::optional<Segment> segment;
  if (state_ == State::kSynSent || state_ == State::kSynReceived) {
    segment = next_request(now);
  } else if (state_ == State::kOpen) {
    segment = next_data(now);
  }
  if (!segment && acknowledge_) {
    segment = bare(kAck);
    segment->sequence = first_ + static_cast<std::uint32_t>(sent_);
  }
  if (!segment) return std::nullopt;
  acknowledge_ = false;
  unacknowledged_ = 0;
  window_end_ = expected_ + segment->window;
  return segment;
}

std::optional<Segment> Endpoint::next_request(Instant now) {
  if (next_ != 0) return std::nullopt;
  Segment segment = bare(state_ == State::kSynSent ? kSyn : kSyn | kAck);
  if (state_ == State::kSynSent) segment.acknowledged = 0;
  segment.window = std::min(segment.window, kUnscaledWindowMax);
  if (sent_ == 0) {
    timed_ = 1;
    timed_at_ = now;
  }
  next_ = sent_ = 1;
  arm(now);
  return segment;
}

std::optional<Segment> Endpoint::next_data(Instant now) {
  if (probing_) {
    probing_ = false;
    Segment segment = bare(kAck);
    --segment.sequence;
    return segment;
  }
  if (one_at_a_time_ && next_ != acknowledged_) return std::nullopt;
  const Offset end = data_end();
  const Offset limit = std::min(end, acknowledged_ + peer_window_);
  const std::size_t size = next_ < limit ? std::min<std::size_t>(kSegmentMax, limit - next_) : 0;
  const bool last = finishing_ && next_ + size == end;
  if (size == 0 && !last) {
    arm(now);  // who waits for a window asks for it
    return std::nullopt;
  }
  Segment segment = bare(kAck);
  segment.data = unsent_.bytes().subspan(next_ - std::min(next_, data_begin_), size);
  next_ += size;
  if (size != 0 && (next_ == limit || one_at_a_time_)) segment.flags |= kPush;
  if (last) {
    segment.flags |= kFin;
    finished_first_ = !peer_finished_;
    ++next_;
  }
  if (!timed_ && next_ > sent_ && !one_at_a_time_) {
    timed_ = next_;
    timed_at_ = now;
  }
  sent_ = std::max(sent_, next_);
  arm(now);
  return segment;
}

}  // namespace anyrdma::sim::tcp
