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
  std::memcpy(window_.data(), kMagic.data(), kMagic.size());
  window_[kMagic.size()] = kVersion;
  used_ = kMagic.size() + 1;
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

std::uint8_t* Writer::put_sized(std::uint8_t* at, std::span<const std::uint8_t> bytes) {
  bytes = bytes.first(std::min(bytes.size(), kTextBytesMax));
  at = put_number(at, bytes.size());
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

std::uint8_t* Writer::put_sized(std::uint8_t* at, std::string_view text) {
  return put_sized(at, bytes_of(text));
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

std::uint8_t* Writer::put_text(std::uint8_t* at, std::string_view text) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  text = text.substr(0, kTextBytesMax);
  const Ends ends(text);
  Lately& lately = lately_[((ends.first * kOdd ^ ends.last) * kOdd ^ ends.size << 55) >> 55];
  const bool known = lately.number != 0 && lately.ends == ends &&
                     (text.size() <= 2 * sizeof ends.first ||
                      std::memcmp(lately.text, text.data(), text.size()) == 0);
  if (!known) lately = look_up(ends, text);
  if (lately.number != 0) return put_number(at, lately.number);
  lately.number = texts_.size();
  return put_sized(put_number(at, 0), text);
}

// --- entries ------------------------------------------------------------------------------------

void Writer::write(EntryKind kind, verbs::Instant now, std::span<const std::uint64_t> numbers,
                   std::span<const std::string_view> texts) {
  std::uint8_t* at = begin(now);
  auto number = numbers.begin();
  auto text = texts.begin();
  for (const char letter : kShapes[static_cast<std::size_t>(kind)]) {
    if (letter == 't') {
      at = put_text(at, *text++);
    } else if (letter == 'b') {
      at = put_sized(at, *text++);
    } else if (letter == 'z') {
      at = put_signed(at, static_cast<std::int64_t>(*number++));
    } else {
      at = put_number(at, *number++);
    }
  }
  end_entry(kind, at);
}

void Writer::about(std::string_view key, std::string_view value) {
  write<EntryKind::kAbout>(last_, key, value);
}

Number Writer::lane(verbs::Instant now, std::string_view of, std::string_view name) {
  write<EntryKind::kLane>(now, of, name, Number{0});
  return lanes_++;
}

Number Writer::lane(verbs::Instant now, std::string_view of, std::string_view name, Number in) {
  write<EntryKind::kLane>(now, of, name, in + 1);
  return lanes_++;
}

void Writer::end(verbs::Instant now, std::string_view verdict, std::uint64_t hash) {
  write<EntryKind::kEnd>(now, verdict, hash);
  if (!std::exchange(over_, true)) sink_->finish(used_);
  used_ = 0;
  turn_window();
}

}  // namespace anyrdma::recording
