// A compact form of a run for its page: each name and text once, each record a few numbers.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace anyrdma::page {

/// An error in the input: a sentence with the line's number.
using Complaint = std::string;

/// Takes a run's lines, a JSON object each, and gives one JSON object:
///   header  the first line as it came
///   lanes   [the lines with a member "lane" and no "n", as they came]
///   texts   [every text once]
///   shapes  [[member, type, ...]]: which members a record has. Types: n a number, s a text's
///   index,
///           d a number's distance from the record's time, j the index of a text that is JSON.
///           "fields/x" is the member x of the member "fields".
///   rows    [shape, value, ...] of each record in turn; the first two values are the distances
///           of n and t from the record before, which for the first is n = -1, t = 0.
/// The result contains no `<`, so that it can be embedded in a page.
class PackedRun {
 public:
  /// Reads all lines; an incomplete last line is left out. Returns empty on success. Precondition:
  /// no line was added.
  [[nodiscard]] Complaint read(std::istream& lines);

  /// Adds the next line. Returns empty on success.
  [[nodiscard]] Complaint add(std::string_view line);
  /// Precondition: a header was added.
  [[nodiscard]] std::string json() const;

 private:
  [[nodiscard]] Complaint take(const boost::json::value& line);
  void take_record(const boost::json::object& record);
  void take_member(const std::string& name, const boost::json::value& value, std::int64_t time);
  [[nodiscard]] std::size_t text(std::string_view words);
  [[nodiscard]] std::size_t shape();
  void put(std::int64_t number);

  std::string header_;
  std::string lanes_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::size_t> text_numbers_;
  std::vector<std::string> shapes_;
  std::unordered_map<std::string, std::size_t> shape_numbers_;
  std::string rows_;

  // State of the record that is being added.
  std::string members_;
  std::string values_;
  std::int64_t last_number_ = -1;
  std::int64_t last_time_ = 0;
};

}  // namespace anyrdma::page
