// What our codecs read in a frame, under the names that Wireshark gives the same fields.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace anyrdma::tests {

/// Fields as a JSON object: numbers as numbers, bytes as "6e6f".
class Fields {
 public:
  /// `name` without its "infiniband." when it begins with a dot.
  void number(const std::string& name, std::uint64_t value);
  void bytes(const std::string& name, std::span<const std::uint8_t> value);
  [[nodiscard]] std::string json() const { return "{" + text_ + "}"; }

 private:
  void add(const std::string& name, const std::string& value);
  std::string text_;
};

/// An Ethernet frame's; empty when it is not RoCEv2. Throws std::runtime_error when it is, but our
/// codecs refuse it.
[[nodiscard]] Fields fields_of(std::span<const std::uint8_t> frame);

/// Those of a CM message; adds nothing for messages without a codec.
void add_message(Fields& fields, std::span<const std::uint8_t> mad);

}  // namespace anyrdma::tests
