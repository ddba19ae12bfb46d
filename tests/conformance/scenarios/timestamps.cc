// Completions that tell when they came, by the device's clock.
#include <array>

#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kStamped{.wc_fields = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};

/// The device's clock.
std::uint64_t read_clock(Endpoint& of) {
  ibv_values_ex values{};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  const int error = ibv_query_rt_values_ex(of.context(), &values);
  of.note_call("query_rt_values_ex()", error);
  return static_cast<std::uint64_t>(values.raw_clock.tv_nsec);
}

/// When the next receive completed; 0: none has.
std::uint64_t take_stamped(Stage& stage, const Endpoint& of) {
  ibv_poll_cq_attr none{};
  const auto came = [&] { return ibv_start_poll(of.cq_ex(), &none) == 0; };
  if (!stage.backend().wait_until(came, 30s)) return 0;
  const std::uint64_t instant = ibv_wc_read_completion_ts(of.cq_ex());
  ibv_end_poll(of.cq_ex());
  return instant;
}

}  // namespace

SCENARIO(timestamps, of_completions) {
  Endpoint alone(server, kStamped);
  alone.note_made();
}

SCENARIO(timestamps, of_a_clock_that_is_read) {
  Endpoint alone(server, {});
  if (alone.is_made()) (void)read_clock(alone);
}

SCENARIO(timestamps, of_completions_lie_between_readings_of_the_clock,
         .needs = {Ability::kTimestamps}) {
  Link link(stage, {}, kStamped);
  if (!link.passive.is_made()) return;
  std::array<std::uint64_t, 4> instants{read_clock(link.passive)};
  for (const std::size_t i : {1U, 2U}) {
    link.passive.post_recv();
    link.active.post({.length = 8});
    instants.at(i) = take_stamped(stage, link.passive);
  }
  instants[3] = read_clock(link.passive);
  const bool in_order =
      instants[0] < instants[1] && instants[1] < instants[2] && instants[2] <= instants[3];
  link.passive.note(in_order ? "completions are stamped in order" : "stamps are out of order");
}

SCENARIO(timestamps, of_a_clock_that_no_device_has, .needs = {Ability::kTimestamps}) {
  Endpoint alone(server, {});
  if (!alone.is_made()) return;
  ibv_values_ex values{};
  values.comp_mask = 1U << 20;
  alone.note_call("query_rt_values_ex()", ibv_query_rt_values_ex(alone.context(), &values));
}

}  // namespace anyrdma::conformance
