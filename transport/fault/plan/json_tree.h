// JSON whose values have their line number, for error messages. Boost.JSON's own values do not keep
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::fault {

struct JsonMember;

enum class JsonKind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

/// A value; which members mean something, its kind says.
struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  std::size_t line = 0;  ///< from 1; of an object or array: where it begins
  bool truth = false;
  std::string text;                 ///< a string, or a number in decimal
  std::vector<JsonNode> elements;   ///< of an array
  std::vector<JsonMember> members;  ///< of an object, in the order of the text
};

/// A key of an object with its value.
struct JsonMember {
  std::string key;
  std::size_t line = 0;
  JsonNode value;
};

/// The value of a text, or the reason why the text is invalid.
struct JsonTree {
  JsonNode root;
  std::size_t error_line = 0;  ///< 0: the text is JSON
  std::string error;
};

/// Exactly one value, nested 32 deep at most. A key twice in one object is an error.
[[nodiscard]] JsonTree parse_json_tree(std::string_view text);

}  // namespace anyrdma::fault
