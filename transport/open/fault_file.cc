#include "transport/open/fault_file.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "transport/fault/plan/fault_json.h"

namespace anyrdma::transport {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  return first != std::string_view::npos && text[first] == '{';
}

/// Where the n-th fault of a text is; in JSON nobody knows, so it is counted.
std::string place_of_fault(std::string_view text, std::size_t number) {
  if (is_json(text)) return "fault " + std::to_string(number);
  std::istringstream lines{std::string(text)};
  std::size_t line_number = 0;
  for (std::string line; number > 0 && std::getline(lines, line); ++line_number) {
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first != std::string::npos && line[first] != '#') --number;
  }
  return "line " + std::to_string(line_number);
}

verbs::WhyNot refused(std::string_view file, const std::string& place, const std::string& why) {
  return {"The fault plan " + std::string(file) + " is invalid: " + place + ": " + why + "."};
}

}  // namespace

verbs::OrWhyNot<HostPlan> parse_fault_file(std::string_view file, std::string_view text,
                                           std::string_view host,
                                           const fault::Abilities& abilities) {
  const auto plan = is_json(text) ? fault::parse_json(text) : fault::FaultPlan::parse(text);
  if (!plan) {
    return refused(file, "line " + std::to_string(plan.error().line), plan.error().reason);
  }
  if (plan->faults.empty()) {
    return verbs::WhyNot{"The fault plan " + std::string(file) + " has no fault."};
  }
  std::string self(host);
  if (self.empty()) {
    const auto only = fault::only_host(*plan);
    if (!only)
      return refused(file, place_of_fault(text, 1), only.error().reason + " (--host NAME)");
    self = *only;
  }
  auto part = fault::part_of(*plan, self, abilities);
  if (!part) {
    return refused(file, place_of_fault(text, part.error().line), part.error().reason);
  }
  return HostPlan{.plan = std::move(*part), .host = self, .hosts = fault::hosts_of(*plan)};
}

verbs::OrWhyNot<HostPlan> read_fault_file(const std::string& path, std::string_view host,
                                          const fault::Abilities& abilities) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || text.fail()) {
    return verbs::WhyNot{"The fault plan " + path + " cannot be read: " + std::strerror(errno) +
                         ". Check the path."};
  }
  return parse_fault_file(path, text.str(), host, abilities);
}

}  // namespace anyrdma::transport
