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

// Through a pointer of its own: a byte that is written might be one of our members, for all that
// the compiler knows.
void Writer::put_long_number(std::uint64_t value) {
  std::uint8_t* const begin = window_.data() + used_;
  std::uint8_t* at = begin;
  while (value >= 0x80) {
    *at++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<std::uint8_t>(value);
  used_ += static_cast<std::size_t>(at - begin);
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

Writer& Writer::bytes(std::span<const std::uint8_t> bytes) {
  put_sized(bytes);
  return field_done();
}

Writer& Writer::bytes(std::string_view text) {
  return bytes(bytes_of(text));
}

// --- texts --------------------------------------------------------------------------------------

Writer::Ends::Ends(std::string_view text) : size(text.size()) {
  const char* const begin = text.data();
  const char* const end = begin + size;
  if (size >= sizeof first) {
    std::memcpy(&first, begin, sizeof first);
    std::memcpy(&last, end - sizeof last, sizeof last);
  } else if (size >= sizeof(std::uint32_t)) {
    std::memcpy(&first, begin, sizeof(std::uint32_t));
    std::memcpy(&last, end - sizeof(std::uint32_t), sizeof(std::uint32_t));
  } else {
    for (const char each : text) first = first << 8 | static_cast<std::uint8_t>(each);
  }
}

Writer::Lately Writer::look_up(const Ends& ends, std::string_view text) {
  const auto found = texts_.find(text);
  if (found != texts_.end()) return {ends, found->first.data(), found->second};
  const auto added = texts_.emplace(text, texts_.size() + 1).first;
  return {ends, added->first.data(), 0};
}

Writer& Writer::text(std::string_view text) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  text = text.substr(0, kTextBytesMax);
  const Ends ends(text);
  Lately& lately = lately_[((ends.first * kOdd ^ ends.last) * kOdd ^ ends.size << 55) >> 55];
  const bool known = lately.number != 0 && lately.ends == ends &&
                     (text.size() <= 2 * sizeof ends.first ||
                      std::memcmp(lately.text, text.data(), text.size()) == 0);
  if (!known) lately = look_up(ends, text);
  if (lately.number != 0) {
    put_number(lately.number);
  } else {
    lately.number = texts_.size();
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
