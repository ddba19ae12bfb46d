#include "transport/fault/plan/fuzz/fuzz_fault_plan.h"

#include <algorithm>
#include <string_view>

#include "transport/fault/plan/fault_json.h"
#include "transport/fault/plan/fault_plan.h"
#include "verbs/assert.h"

namespace anyrdma::fault::fuzz {
namespace {

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string_view()
                   : std::string_view(reinterpret_cast<const char*>(data), size);
}

void check(std::string_view text, const PlanResult<FaultPlan>& plan) {
  if (!plan) {
    const auto newlines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    CM_ASSERT(plan.error().line >= 1);
    CM_ASSERT(plan.error().line <= newlines + 1);
    CM_ASSERT(!plan.error().reason.empty());
    return;
  }
  const auto from_text = FaultPlan::parse(plan->to_string());
  CM_ASSERT(from_text.has_value());
  CM_ASSERT(*from_text == *plan);
  const auto from_json = parse_json(to_json(*plan));
  CM_ASSERT(from_json.has_value());
  CM_ASSERT(*from_json == *plan);
}

}  // namespace

int fuzz_fault_plan(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  check(text, FaultPlan::parse(text));
  return 0;
}

int fuzz_fault_json(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  check(text, parse_json(text));
  return 0;
}

}  // namespace anyrdma::fault::fuzz
