#include "recording/writer.h"

#include <algorithm>
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

Writer& Writer::begin(EntryKind kind, verbs::Instant now) {
  if (window_.size() - used_ < kEntryBytesMax) turn_window();
  put(static_cast<std::uint8_t>(kind));
  signed_number((now - std::exchange(last_, now)).count());
  return *this;
}

Writer& Writer::number(std::uint64_t value) {
  while (value >= 0x80) {
    put(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  put(static_cast<std::uint8_t>(value));
  return *this;
}

// Small numbers of either sign stay short.
Writer& Writer::signed_number(std::int64_t value) {
  return number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void Writer::put_bytes(std::span<const std::uint8_t> bytes) {
  if (!bytes.empty()) std::memcpy(window_.data() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
}

Writer& Writer::bytes(std::span<const std::uint8_t> bytes) {
  bytes = bytes.first(std::min(bytes.size(), kTextBytesMax));
  number(bytes.size());
  put_bytes(bytes);
  return *this;
}

Writer& Writer::bytes(std::string_view text) {
  return bytes(bytes_of(text));
}

Writer& Writer::text(std::string_view text) {
  text = text.substr(0, kTextBytesMax);
  const auto found = texts_.find(text);
  if (found != texts_.end()) return number(found->second);
  texts_.emplace(text, texts_.size() + 1);
  put(0);
  return bytes(text);
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
