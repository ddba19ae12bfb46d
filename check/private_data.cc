#include "check/private_data.h"

#include <algorithm>

#include "base/text.h"

namespace anyrdma::check {
namespace {

constexpr std::string_view kPrivateData = "private data";

std::string_view to_string(Carrier carrier) {
  switch (carrier) {
    case Carrier::kRequest:
      return "request";
    case Carrier::kReply:
      return "reply";
    case Carrier::kRejection:
      return "rejection";
  }
  return "?";
}

bool matches(std::span<const std::uint8_t> given, std::span<const std::uint8_t> delivered) {
  if (delivered.size() < given.size()) return false;
  const auto padding = delivered.subspan(given.size());
  return std::equal(given.begin(), given.end(), delivered.begin()) &&
         std::all_of(padding.begin(), padding.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

void PrivateData::on_given(const std::string& route, Carrier carrier,
                           std::span<const std::uint8_t> data) {
  given_on(route, carrier).emplace_back(data.begin(), data.end());
}

bool PrivateData::has_given(const std::string& route, Carrier carrier) const {
  const auto found = given_.find(route);
  return found != given_.end() && !found->second[static_cast<std::size_t>(carrier)].empty();
}

void PrivateData::excuse(std::span<const std::uint8_t> data) {
  excused_.emplace_back(data.begin(), data.end());
}

void PrivateData::on_silent_end(const std::string& route) {
  given_on(route, Carrier::kRejection).emplace_back();
}

bool PrivateData::matches_any(const std::vector<Bytes>& given,
                              std::span<const std::uint8_t> data) const {
  return std::any_of(given.rbegin(), given.rend(),
                     [&](const Bytes& each) { return matches(each, data); });
}

void PrivateData::on_delivered(const IdName& to, const std::string& route, Carrier carrier,
                               std::size_t room, std::span<const std::uint8_t> data) {
  const auto what = [&] {
    return to.to_string() + ": " + std::string(to_string(carrier)) + " on " + route;
  };
  if (data.size() != room) {
    violations_.add(kPrivateData, what() + " came with " + std::to_string(data.size()) +
                                      " bytes and has " + std::to_string(room));
  }
  const std::vector<Bytes>& given = given_on(route, carrier);
  if (matches_any(given, data)) return;
  // Nobody rejected: the CM has its own reasons, and no data.
  if (carrier == Carrier::kRejection && given.empty() && matches({}, data)) return;
  if (carrier == Carrier::kRejection && matches_any(excused_, data)) return;
  const std::string last = given.empty() ? "none was given" : "given was " + hex_text(given.back());
  violations_.add(kPrivateData, what() + " came with " + hex_text(data) + ", but " + last);
}

}  // namespace anyrdma::check
