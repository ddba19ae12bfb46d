#include "recording/reader.h"

#include <algorithm>

namespace anyrdma::recording {
namespace {

constexpr unsigned kBitsOfByte = 7;
constexpr unsigned kShiftMax = 63;
/// Contract with readers in other languages: numbers of time have 53 bits.
constexpr std::int64_t kTimeMax = std::int64_t{1} << 53;

std::int64_t unfold(std::uint64_t folded) {
  return static_cast<std::int64_t>(folded >> 1) ^ -static_cast<std::int64_t>(folded & 1);
}

}  // namespace

Reader::Reader(std::span<const std::uint8_t> file) : file_(file) {
  const std::size_t compared = std::min(file.size(), kMagic.size());
  if (!std::equal(kMagic.begin(), kMagic.begin() + static_cast<std::ptrdiff_t>(compared),
                  file.begin(),
                  [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }) ||
      file.empty()) {
    fail("the file is no recording");
  } else if (file.size() <= kMagic.size()) {
    cut();
  } else if (file[kMagic.size()] != kVersion) {
    const unsigned version = file[kMagic.size()];
    fail("it has version " + std::to_string(version) + " of the format, and this program reads " +
         std::to_string(kVersion) + (version > kVersion ? ": a newer anyrdma wrote it" : ""));
  }
  at_ = kMagic.size() + 1;
}

bool Reader::fail(const std::string& why) {
  problem_ = why;
  over_ = true;
  return false;
}

bool Reader::cut() {
  truncated_ = over_ = true;
  return false;
}

Reader::Taken Reader::take(std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift <= kShiftMax; shift += kBitsOfByte) {
    if (at_ == file_.size()) return Taken::kCut;
    const std::uint8_t byte = file_[at_++];
    if (shift == kShiftMax && byte > 1) return Taken::kWrong;
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return Taken::kYes;
  }
  return Taken::kWrong;
}

Reader::Taken Reader::take(std::string_view& bytes) {
  std::uint64_t size = 0;
  if (const Taken taken = take(size); taken != Taken::kYes) return taken;
  if (size > kTextBytesMax) return Taken::kWrong;
  if (size > file_.size() - at_) return Taken::kCut;
  bytes = {reinterpret_cast<const char*>(file_.data()) + at_, size};
  at_ += size;
  return Taken::kYes;
}

Reader::Taken Reader::take_text(std::string_view& text) {
  std::uint64_t number = 0;
  if (const Taken taken = take(number); taken != Taken::kYes) return taken;
  if (number > texts_.size()) return Taken::kWrong;
  if (number != 0) {
    text = texts_[number - 1];
    return Taken::kYes;
  }
  const Taken taken = take(text);
  if (taken == Taken::kYes) texts_.push_back(text);
  return taken;
}

/// One that refers to what is not there is wrong.
Reader::Taken Reader::take_number(char letter, std::uint64_t& number) {
  if (const Taken taken = take(number); taken != Taken::kYes) return taken;
  bool right = true;
  if (letter == 'l') right = number < lanes_;
  if (letter == 'L') right = number <= lanes_;
  if (letter == 'm') right = number < messages_;
  if (letter == 'd') right = number <= static_cast<std::uint64_t>(kTimeMax);
  if (letter == 'z') number = static_cast<std::uint64_t>(unfold(number));
  return right ? Taken::kYes : Taken::kWrong;
}

Reader::Taken Reader::take_fields(Entry& entry) {
  std::size_t numbers = 0;
  std::size_t texts = 0;
  for (const char letter : kShapes[static_cast<std::size_t>(entry.kind)]) {
    Taken taken = Taken::kYes;
    if (letter == 't') {
      taken = take_text(entry.texts[texts++]);
    } else if (letter == 'b') {
      taken = take(entry.texts[texts++]);
    } else {
      taken = take_number(letter, entry.numbers[numbers++]);
    }
    if (taken != Taken::kYes) return taken;
  }
  return Taken::kYes;
}

bool Reader::next(Entry& entry) {
  if (over_) return false;
  const std::size_t begin = at_;
  const auto damaged = [&] { return fail("it is damaged at byte " + std::to_string(begin)); };
  if (at_ == file_.size() || file_[at_] == 0) return cut();
  if (file_[at_] >= kKinds) return damaged();
  entry = {.kind = static_cast<EntryKind>(file_[at_++])};
  std::uint64_t passed = 0;
  Taken taken = take(passed);
  if (taken == Taken::kYes) taken = take_fields(entry);
  if (taken == Taken::kCut) return cut();
  if (taken == Taken::kWrong) return damaged();
  const std::int64_t step = unfold(passed);
  if (step > kTimeMax || step < -kTimeMax) return damaged();
  time_ += step;
  if (time_ > kTimeMax || time_ < -kTimeMax) return damaged();
  entry.time = verbs::Instant(verbs::Duration(time_));
  if (entry.kind == EntryKind::kLane) ++lanes_;
  if (is_message(entry.kind)) ++messages_;
  if (entry.kind == EntryKind::kEnd) {
    over_ = true;
    if (at_ != file_.size()) return fail("there is more behind its end");
  }
  return true;
}

}  // namespace anyrdma::recording
