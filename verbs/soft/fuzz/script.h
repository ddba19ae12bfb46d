// The bytes of a fuzzer's input as a script's decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyrdma::verbs::soft::fuzz {

/// Zero when it is over.
class Script {
 public:
  Script(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}
  [[nodiscard]] bool over() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::uint16_t word() { return static_cast<std::uint16_t>(byte() << 8 | byte()); }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace anyrdma::verbs::soft::fuzz
