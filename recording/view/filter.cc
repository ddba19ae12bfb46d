#include "recording/view/filter.h"

#include <algorithm>

namespace anyrdma::recording {
namespace {

bool names(const Lane& lane, std::string_view of, const std::string& wanted) {
  if (lane.of != of) return false;
  return lane.name == wanted || (of == "qp" && lane.name.ends_with("#qp" + wanted));
}

bool any_names(const std::vector<std::string>& wanted, const Lane& lane, std::string_view of) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& each) { return names(lane, of, each); });
}

/// The record is in, goes to, or speaks of such a lane.
bool touches(const Story& story, const Record& record, const std::vector<std::string>& wanted,
             std::string_view of) {
  if (wanted.empty()) return true;
  const auto is_it = [&](std::size_t lane) {
    return any_names(wanted, story.lanes[of == "host" ? story.host_of(lane) : lane], of);
  };
  return is_it(record.lane) || (record.to && is_it(*record.to)) ||
         std::any_of(record.about.begin(), record.about.end(), is_it);
}

}  // namespace

bool Filter::empty() const {
  return hosts.empty() && ids.empty() && queue_pairs.empty() && kinds.empty() && !from && !to;
}

bool Filter::passes(const Story& story, const Record& record) const {
  if (from && record.time < *from) return false;
  if (to && record.time > *to) return false;
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), record.kind) == kinds.end())
    return false;
  return touches(story, record, hosts, "host") && touches(story, record, ids, "id") &&
         touches(story, record, queue_pairs, "qp");
}

std::string Filter::unknown_in(const Story& story) const {
  const auto missing = [&](const std::vector<std::string>& wanted, std::string_view of) {
    for (const std::string& each : wanted) {
      const bool there = std::any_of(story.lanes.begin(), story.lanes.end(),
                                     [&](const Lane& lane) { return names(lane, of, each); });
      if (!there) return each;
    }
    return std::string();
  };
  if (const std::string host = missing(hosts, "host"); !host.empty()) return "host '" + host + "'";
  if (const std::string id = missing(ids, "id"); !id.empty()) return "id '" + id + "'";
  if (const std::string qp = missing(queue_pairs, "qp"); !qp.empty())
    return "queue pair '" + qp + "'";
  return {};
}

}  // namespace anyrdma::recording
