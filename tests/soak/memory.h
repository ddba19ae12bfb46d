// Memory whose every byte is known: by a key and by where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace anyrdma::soak {

using Bytes = std::span<std::uint8_t>;

/// The byte that belongs to `at` in the pattern of that key.
[[nodiscard]] std::uint8_t pattern_at(std::uint64_t key, std::size_t at);
/// Bytes `at` and on of the pattern.
void fill(Bytes bytes, std::uint64_t key, std::size_t at = 0);
/// Where the two differ, in words; empty: nowhere.
[[nodiscard]] std::string difference(std::span<const std::uint8_t> got,
                                     std::span<const std::uint8_t> expected);

/// Pages of its own, mapped anew.
class Pages {
 public:
  explicit Pages(std::size_t size);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] std::uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  Bytes bytes_;
};

}  // namespace anyrdma::soak
