#include "cm/state_diagram.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cm/state_table.h"
#include "transport/event_name.h"

namespace anyrdma::cm {
namespace {

constexpr std::string_view kMarker = "<!-- diagram: ";
constexpr std::string_view kMarkerEnd = " -->\n";
constexpr std::string_view kFence = "```mermaid\n";
constexpr std::string_view kFenceEnd = "```\n";

/// From one state to another, by what; ordered as the states are.
using Arrows = std::map<std::pair<State, State>, std::string>;

void add(Arrows& arrows, State from, State to, std::string_view why) {
  std::string& label = arrows[{from, to}];
  if (!label.empty()) label += ", ";
  label += why;
}

std::optional<Operation> operation_named(std::string_view name) {
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    if (to_string(static_cast<Operation>(i)) == name) return static_cast<Operation>(i);
  }
  return std::nullopt;
}

std::optional<rdma_cm_event_type> event_named(std::string_view name) {
  for (std::size_t i = 0; i < kEventTypeCount; ++i) {
    const auto type = static_cast<rdma_cm_event_type>(i);
    if (transport::short_event_name(type) == name) return type;
  }
  return std::nullopt;
}

void add_call(Arrows& arrows, Operation operation) {
  const std::string name(to_string(operation));
  for (std::size_t i = 0; i < kStateCount; ++i) {
    const OperationRow& row = row_of(operation, static_cast<State>(i));
    if (row.verdict == Verdict::kRefuse) continue;
    add(arrows, row.from, row.success, name);
    if (row.failure != row.success && row.failure != row.from) {
      add(arrows, row.from, row.failure, name + " fails");
    }
  }
}

void add_event(Arrows& arrows, rdma_cm_event_type type) {
  for (std::size_t i = 0; i < kStateCount; ++i) {
    const UpcallRow& row = row_of(type, static_cast<State>(i));
    if (row.delivery == Delivery::kDrop) continue;
    add(arrows, row.from, row.next, transport::short_event_name(type));
  }
}

std::vector<std::string_view> split(std::string_view names) {
  constexpr std::string_view kBetween = " | ";
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = names.find(kBetween);
    parts.push_back(names.substr(0, end));
    if (end == std::string_view::npos) return parts;
    names.remove_prefix(end + kBetween.size());
  }
}

std::string draw(std::string_view names) {
  Arrows arrows;
  std::string text(kFence);
  text += "stateDiagram-v2\n";
  for (std::string_view name : split(names)) {
    if (const auto operation = operation_named(name)) {
      add_call(arrows, *operation);
    } else if (const auto type = event_named(name)) {
      add_event(arrows, *type);
    } else {
      text += "    unknown: " + std::string(name) + '\n';
    }
  }
  for (const auto& [ends, label] : arrows) {
    text += "    " + std::string(short_name(ends.first)) + " --> " +
            std::string(short_name(ends.second)) + ": " + label + '\n';
  }
  text += kFenceEnd;
  return text;
}

}  // namespace

std::string with_diagrams(std::string_view page) {
  std::string out;
  while (true) {
    const std::size_t marker = page.find(kMarker);
    const std::size_t end =
        marker == std::string_view::npos ? marker : page.find(kMarkerEnd, marker);
    if (end == std::string_view::npos) return out += page;
    const std::size_t names = marker + kMarker.size();
    const std::size_t after = end + kMarkerEnd.size();
    out += page.substr(0, after);
    out += draw(page.substr(names, end - names));
    page.remove_prefix(after);
    if (page.starts_with(kFence)) {
      const std::size_t old_end = page.find(kFenceEnd, kFence.size());
      page.remove_prefix(old_end == std::string_view::npos ? page.size()
                                                           : old_end + kFenceEnd.size());
    }
  }
}

}  // namespace anyrdma::cm
