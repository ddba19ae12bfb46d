// Parses JSON into a tree whose values have line numbers, which error messages need. Values of
// Boost.JSON have no line numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::fault {

struct JsonMember;

enum class JsonKind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

/// A JSON value. The member `kind` says which other members are used.
struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  /// Number of the line, counted from 1; of an object or array, the line where it begins.
  std::size_t line = 0;
  bool truth = false;
  std::string text;                 ///< a string, or a number in decimal
  std::vector<JsonNode> elements;   ///< the elements of an array
  std::vector<JsonMember> members;  ///< the members of an object, in the order of the text
};

/// A key of an object with its value.
struct JsonMember {
  std::string key;
  std::size_t line = 0;
  JsonNode value;
};

/// The result of parsing: the value, or an error with its line.
struct JsonTree {
  JsonNode root;
  std::size_t error_line = 0;  ///< 0: the text is JSON
  std::string error;
};

/// Parses exactly one JSON value, with at most 32 levels of nesting. Error: also a repeated key in
/// an object.
[[nodiscard]] JsonTree parse_json_tree(std::string_view text);

}  // namespace anyrdma::fault
