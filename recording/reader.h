// Reads a recording entry by entry. Any input is safe: a complete recording, a recording that was
// cut off, or other bytes, which problem() reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recording/entry.h"

namespace anyrdma::recording {

class Reader {
 public:
  /// `file` must outlive the reader and its entries.
  explicit Reader(std::span<const std::uint8_t> file);

  /// Reads the next entry. An entry refers only to lanes (timeline rows) and messages of earlier
  /// entries. False: there is no further entry; see problem() and truncated().
  [[nodiscard]] bool next(Entry& entry);
  /// Returns why the file is no recording, or where it is damaged, as a sentence without full stop.
  /// Empty: no problem.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Whether the recording was cut off, so that it has no end entry.
  [[nodiscard]] bool truncated() const { return truncated_; }
  [[nodiscard]] std::uint64_t lanes() const { return lanes_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  enum class Taken : std::uint8_t { kYes, kCut, kWrong };
  [[nodiscard]] Taken take(std::uint64_t& number);
  [[nodiscard]] Taken take(std::string_view& bytes);
  [[nodiscard]] Taken take_text(std::string_view& text);
  [[nodiscard]] Taken take_number(char letter, std::uint64_t& number);
  [[nodiscard]] Taken take_fields(Entry& entry);
  bool fail(const std::string& why);
  bool cut();

  std::span<const std::uint8_t> file_;
  std::size_t at_ = 0;
  bool over_ = false;
  bool truncated_ = false;
  std::string problem_;
  std::int64_t time_ = 0;
  std::uint64_t lanes_ = 0;
  std::uint64_t messages_ = 0;
  std::vector<std::string_view> texts_;
};

}  // namespace anyrdma::recording
