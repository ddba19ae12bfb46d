#include "transport/fault/plan/json_tree.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <utility>

namespace anyrdma::fault {
namespace {

using boost::json::error_code;
using boost::json::string_view;

constexpr std::size_t kDepthMax = 32;

/// Takes what Boost.JSON's parser finds. It is fed line by line, so that it knows in which it is.
class TreeBuilder {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the parser's names
  static constexpr std::size_t max_object_size = std::size_t(-1);
  static constexpr std::size_t max_array_size = std::size_t(-1);
  static constexpr std::size_t max_key_size = std::size_t(-1);
  static constexpr std::size_t max_string_size = std::size_t(-1);
  // NOLINTEND(readability-identifier-naming)

  std::size_t line = 1;
  JsonNode root;
  std::string error;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return open(JsonKind::kObject); }
  bool on_object_end(std::size_t, error_code&) { return close(); }
  bool on_array_begin(error_code&) { return open(JsonKind::kArray); }
  bool on_array_end(std::size_t, error_code&) { return close(); }
  bool on_key_part(string_view part, std::size_t, error_code&) { return collect(part); }
  bool on_key(string_view part, std::size_t, error_code& problem) {
    collect(part);
    auto& members = open_.back()->members;
    const bool known = std::any_of(members.begin(), members.end(),
                                   [this](const JsonMember& each) { return each.key == text_; });
    if (known) {
      error = "key '" + text_ + "' twice";
      problem = boost::json::error::extra_data;
      return false;
    }
    members.push_back({std::exchange(text_, {}), line, {}});
    return true;
  }
  bool on_string_part(string_view part, std::size_t, error_code&) { return collect(part); }
  bool on_string(string_view part, std::size_t, error_code&) {
    collect(part);
    return take(JsonKind::kString);
  }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t value, string_view, error_code&) {
    text_ = std::to_string(value);
    return take(JsonKind::kNumber);
  }
  bool on_uint64(std::uint64_t value, string_view, error_code&) {
    text_ = std::to_string(value);
    return take(JsonKind::kNumber);
  }
  bool on_double(double value, string_view, error_code&) {
    text_ = std::to_string(value);
    return take(JsonKind::kNumber);
  }
  bool on_bool(bool value, error_code&) {
    place(JsonKind::kBool).truth = value;
    return true;
  }
  bool on_null(error_code&) {
    place(JsonKind::kNull);
    return true;
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  bool collect(string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }
  /// Where the next value belongs.
  JsonNode& place(JsonKind kind) {
    JsonNode* node = &root;
    if (!open_.empty()) {
      JsonNode& parent = *open_.back();
      node = parent.kind == JsonKind::kObject ? &parent.members.back().value
                                              : &parent.elements.emplace_back();
    }
    node->kind = kind;
    node->line = line;
    return *node;
  }
  bool take(JsonKind kind) {
    place(kind).text = std::exchange(text_, {});
    return true;
  }
  // Only the last child of an open node grows, so that these pointers stay good.
  bool open(JsonKind kind) {
    open_.push_back(&place(kind));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<JsonNode*> open_;
  std::string text_;
};

}  // namespace

JsonTree parse_json_tree(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kDepthMax;
  boost::json::basic_parser<TreeBuilder> parser(options);
  TreeBuilder& builder = parser.handler();
  error_code problem;
  while (!problem && !text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    const std::size_t used = parser.write_some(true, text.data(), size, problem);
    if (!problem && used < size) problem = boost::json::error::extra_data;
    text.remove_prefix(size);
    if (!problem && !text.empty()) ++builder.line;
  }
  if (!problem) (void)parser.write_some(false, nullptr, 0, problem);
  JsonTree tree;
  if (problem) {
    tree.error_line = builder.line;
    tree.error = builder.error.empty() ? "not JSON: " + problem.message() : builder.error;
  } else {
    tree.root = std::move(builder.root);
  }
  return tree;
}

}  // namespace anyrdma::fault
