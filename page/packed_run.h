// Converts a run to a compact form for its HTML page: each name and each text is stored once, each
// record as a few numbers.
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

/// An error in the input: a sentence with the number of the line.
using Complaint = std::string;

/// Converts the lines of a run, each of which is a JSON object, to one JSON object. Its members:
///   header  the first line, unchanged
///   lanes   an array of the lines that have a member "lane" and no member "n", unchanged
///   texts   an array of all texts, each once
///   shapes  an array of shapes: [member, type, member, type, ...] says which members a record has
///   rows    an array with a row for each record in turn: [shape, value, value, ...]
///
/// A member "fields/x" of a shape is the member x of the record's member "fields". The type says
/// what the value in a row is: n is a number, s the index of a text, j the index of a text that is
/// JSON, d the difference between a number and the record's time.
///
/// The first two values of a row are the differences of n and t from those of the record before.
/// Before the first record, n is -1 and t is 0.
///
/// The JSON text contains no `<`, so that it can be embedded in a page.
class PackedRun {
 public:
  /// Reads all lines of a run; an incomplete last line is left out. Returns an empty text on
  /// success. Precondition: no line was added before.
  [[nodiscard]] Complaint read(std::istream& lines);

  /// Adds the next line of a run. Returns an empty text on success.
  [[nodiscard]] Complaint add(std::string_view line);
  /// Returns the run as one JSON object. Precondition: a header was added.
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
