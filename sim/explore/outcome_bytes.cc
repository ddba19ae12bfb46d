#include "sim/explore/outcome_bytes.h"

#include <cstring>

#include "sim/fault_plan.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

class Writer {
 public:
  void number(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    CM_ASSERT(bytes_.size() >= sizeof value);
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::uint32_t small() { return static_cast<std::uint32_t>(number()); }
  std::string text() {
    const std::uint64_t size = number();
    CM_ASSERT(bytes_.size() >= size);
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string to_bytes(const Outcome& outcome) {
  Writer out;
  out.text(outcome.problem);
  out.number(outcome.trace_hash);
  out.number(outcome.steps.size());
  for (const verbs::Duration step : outcome.steps) {
    out.number(static_cast<std::uint64_t>(step.count()));
  }
  out.number(outcome.faults.size());
  for (const FaultStatus& status : outcome.faults) {
    out.text(to_string(status.fault));
    for (const auto value : {status.planned, status.armed, status.fired, status.observed}) {
      out.number(value);
    }
    out.number(status.chosen.size());
    for (const std::uint32_t each : status.chosen) out.number(each);
  }
  for (const auto* all : {&outcome.deviations, &outcome.memory}) {
    out.number(all->size());
    for (const Deviation& each : *all) {
      out.number(each.point);
      out.number(each.choice);
    }
  }
  out.number(outcome.reached.size());
  for (const Reached& each : outcome.reached) {
    out.number(each.bit);
    out.number(each.decision);
  }
  out.text(outcome.differs);
  out.number(outcome.choices);
  out.number(outcome.situations.size());
  for (const auto& [situation, occurred] : outcome.situations) {
    out.text(situation);
    out.number(occurred ? 1 : 0);
  }
  return out.take();
}

Outcome outcome_from(std::string_view bytes) {
  Reader in(bytes);
  Outcome outcome;
  outcome.problem = in.text();
  outcome.trace_hash = in.number();
  for (std::uint64_t left = in.number(); left != 0; --left) {
    outcome.steps.emplace_back(static_cast<std::int64_t>(in.number()));
  }
  for (std::uint64_t left = in.number(); left != 0; --left) {
    FaultStatus& status = outcome.faults.emplace_back();
    status.fault = FaultPlan::parse(in.text()).value().faults.front();
    status.planned = in.small();
    status.armed = in.small();
    status.fired = in.small();
    status.observed = in.small();
    for (std::uint64_t more = in.number(); more != 0; --more) status.chosen.push_back(in.small());
  }
  for (auto* all : {&outcome.deviations, &outcome.memory}) {
    for (std::uint64_t left = in.number(); left != 0; --left) {
      const std::uint64_t point = in.number();
      all->push_back({point, in.small()});
    }
  }
  for (std::uint64_t left = in.number(); left != 0; --left) {
    const std::uint32_t bit = in.small();
    outcome.reached.push_back({bit, in.number()});
  }
  outcome.differs = in.text();
  outcome.choices = in.number();
  for (std::uint64_t left = in.number(); left != 0; --left) {
    std::string situation = in.text();
    outcome.situations.emplace(std::move(situation), in.number() != 0);
  }
  return outcome;
}

}  // namespace anyrdma::sim
