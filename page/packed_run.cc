#include "page/packed_run.h"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace anyrdma::page {
namespace {

namespace json = boost::json;

constexpr std::string_view kNoJson = "no JSON";

/// JSON that may stand within an HTML page: `<` occurs in texts only.
std::string harmless(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  for (const char letter : text) {
    if (letter == '<') {
      result += "\\u003c";
    } else {
      result += letter;
    }
  }
  return result;
}

std::string in_quotes(std::string_view words) {
  return json::serialize(json::string(words));
}

bool is_time(std::string_view member) {
  constexpr std::array<std::string_view, 5> kTimes{"arrives", "ends", "fetched", "acknowledged",
                                                   "polled"};
  for (const std::string_view time : kTimes) {
    if (member == time) return true;
  }
  return member == "queued";
}

/// A whole number that a page can hold exactly, and that can be subtracted from any other.
bool is_whole(const json::value* value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  return value != nullptr && value->is_int64() && value->get_int64() <= kMost &&
         value->get_int64() >= -kMost;
}

}  // namespace

Complaint PackedRun::read(std::istream& lines) {
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const Complaint complaint = add(line);
    if (lines.eof() && complaint.starts_with(kNoJson) && !header_.empty()) break;
    if (!complaint.empty()) return "line " + std::to_string(number) + ": " + complaint;
  }
  return header_.empty() ? "line 1: nothing is there" : "";
}

Complaint PackedRun::add(std::string_view line) {
  boost::system::error_code error;
  const json::value value = json::parse({line.data(), line.size()}, error);
  return error ? std::string(kNoJson) + ": " + error.message() : take(value);
}

std::string PackedRun::json() const {
  std::string result = "{\"header\":" + header_ + ",\n\"lanes\":[" + lanes_ + "],\n\"texts\":[";
  for (const std::string& words : texts_) {
    if (&words != &texts_.front()) result += ',';
    result += in_quotes(words);
  }
  result += "],\n\"shapes\":[";
  for (const std::string& members : shapes_) {
    if (&members != &shapes_.front()) result += ',';
    result += '[' + members + ']';
  }
  return harmless(result + "],\n\"rows\":[") + rows_ + "]}";
}

Complaint PackedRun::take(const json::value& line) {
  const json::object* object = line.if_object();
  if (object == nullptr) return "no object";
  if (header_.empty()) {
    if (!object->contains("anyrdma")) return "no recording of anyrdma: it has no header";
    header_ = json::serialize(*object);
  } else if (object->contains("n")) {
    for (const char* member : {"n", "t", "lane"}) {
      const bool whole = is_whole(object->if_contains(member));
      if (!whole) return std::string("a record needs a whole number as \"") + member + '"';
    }
    take_record(*object);
  } else if (is_whole(object->if_contains("lane"))) {
    if (!lanes_.empty()) lanes_ += ",\n";
    lanes_ += json::serialize(*object);
  }
  return {};
}

void PackedRun::take_record(const json::object& record) {
  const std::int64_t number = record.at("n").get_int64();
  const std::int64_t time = record.at("t").get_int64();
  members_ = "\"n\",\"d\",\"t\",\"d\"";
  values_.clear();
  put(number - last_number_);
  put(time - last_time_);
  last_number_ = number;
  last_time_ = time;
  for (const auto& [key, value] : record) {
    const std::string name = key;
    if (name == "n" || name == "t") continue;
    if (name == "fields" && value.is_object()) {
      for (const auto& [field, text] : value.get_object()) {
        take_member("fields/" + std::string(field), text, time);
      }
    } else {
      take_member(name, value, time);
    }
  }
  if (!rows_.empty()) rows_ += ",\n";
  rows_ += std::to_string(shape()) + values_;
}

void PackedRun::take_member(const std::string& name, const json::value& value, std::int64_t time) {
  char type = 'j';
  if (is_whole(&value)) {
    type = is_time(name) ? 'd' : 'n';
    put(value.get_int64() - (type == 'd' ? time : 0));
  } else if (value.is_string()) {
    type = 's';
    put(static_cast<std::int64_t>(text(value.get_string())));
  } else {
    put(static_cast<std::int64_t>(text(json::serialize(value))));
  }
  members_ += ',' + in_quotes(name) + ",\"" + type + '"';
}

std::size_t PackedRun::text(std::string_view words) {
  const auto [place, added] = text_numbers_.try_emplace(std::string(words), texts_.size());
  if (added) texts_.emplace_back(words);
  return place->second;
}

std::size_t PackedRun::shape() {
  const auto [place, added] = shape_numbers_.try_emplace(members_, shapes_.size());
  if (added) shapes_.push_back(members_);
  return place->second;
}

void PackedRun::put(std::int64_t number) {
  values_ += ',' + std::to_string(number);
}

}  // namespace anyrdma::page
