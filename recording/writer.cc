#include "recording/writer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace anyrdma::recording {
namespace {

constexpr std::size_t kNowhereBytes = 2 * kEntryBytesMax;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

Writer::Writer(std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {
  turn_window();
  put_bytes(bytes_of(kMagic));
  put(kVersion);
}

Writer::~Writer() {
  if (!over_) sink_->finish(used_);
}

// A sink that takes no more is not asked again: what comes goes nowhere.
void Writer::turn_window() {
  const std::size_t used = std::exchange(used_, 0);
  if (!over_) {
    window_ = sink_->window(used);
    if (!window_.empty()) return;
    sink_->finish(0);
    over_ = true;
  }
  if (nowhere_ == nullptr) nowhere_ = std::make_unique<std::uint8_t[]>(kNowhereBytes);
  window_ = {nowhere_.get(), kNowhereBytes};
}

/// The kind is written last: whoever dies in the middle of an entry has not begun it.
Writer& Writer::begin(EntryKind kind, verbs::Instant now) {
  if (window_.size() - used_ < kEntryBytesMax) turn_window();
  kind_ = kind;
  fields_ = kShapes[static_cast<std::size_t>(kind)].size();
  begun_ = used_++;
  put_signed((now - std::exchange(last_, now)).count());
  return *this;
}

Writer& Writer::field_done() {
  if (--fields_ != 0) return *this;
  std::atomic_signal_fence(std::memory_order_release);  // of a signal that ends the process
  window_[begun_] = static_cast<std::uint8_t>(kind_);
  return *this;
}

void Writer::put_number(std::uint64_t value) {
  while (value >= 0x80) {
    put(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  put(static_cast<std::uint8_t>(value));
}

// Small numbers of either sign stay short.
void Writer::put_signed(std::int64_t value) {
  put_number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void Writer::put_bytes(std::span<const std::uint8_t> bytes) {
  if (!bytes.empty()) std::memcpy(window_.data() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
}

void Writer::put_sized(std::span<const std::uint8_t> bytes) {
  bytes = bytes.first(std::min(bytes.size(), kTextBytesMax));
  put_number(bytes.size());
  put_bytes(bytes);
}

Writer& Writer::number(std::uint64_t value) {
  put_number(value);
  return field_done();
}

Writer& Writer::signed_number(std::int64_t value) {
  put_signed(value);
  return field_done();
}

Writer& Writer::bytes(std::span<const std::uint8_t> bytes) {
  put_sized(bytes);
  return field_done();
}

Writer& Writer::bytes(std::string_view text) {
  return bytes(bytes_of(text));
}

Writer& Writer::text(std::string_view text) {
  text = text.substr(0, kTextBytesMax);
  const auto found = texts_.find(text);
  if (found != texts_.end()) {
    put_number(found->second);
  } else {
    texts_.emplace(text, texts_.size() + 1);
    put(0);
    put_sized(bytes_of(text));
  }
  return field_done();
}

// --- entries ------------------------------------------------------------------------------------

void Writer::about(std::string_view key, std::string_view value) {
  begin(EntryKind::kAbout, last_).text(key).bytes(value);
}

Number Writer::lane(verbs::Instant now, std::string_view of, std::string_view name) {
  begin(EntryKind::kLane, now).text(of).text(name).number(0);
  return lanes_++;
}

Number Writer::lane(verbs::Instant now, std::string_view of, std::string_view name, Number in) {
  begin(EntryKind::kLane, now).text(of).text(name).number(in + 1);
  return lanes_++;
}

void Writer::end(verbs::Instant now, std::string_view verdict, std::uint64_t hash) {
  begin(EntryKind::kEnd, now).text(verdict).number(hash);
  if (!std::exchange(over_, true)) sink_->finish(used_);
  used_ = 0;
  turn_window();
}

}  // namespace anyrdma::recording
