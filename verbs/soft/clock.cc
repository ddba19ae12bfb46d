// The device's clock, which timestamps of completions are read from: it ticks in nanoseconds.
#include <cerrno>

#include "verbs/soft/context.h"
#include "verbs/soft/core.h"

namespace anyrdma::verbs::soft {
namespace {

// As hardware gives it: ticks, all of them in the field of nanoseconds.
int query_rt_values(ibv_context* context, ibv_values_ex* values) {
  if (context == nullptr || values == nullptr) return EINVAL;
  Core& core = SoftContext::from(context).core();
  if (core.removed) return EIO;
  if ((values->comp_mask & ~std::uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) != 0) return EINVAL;
  values->raw_clock = {};
  if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0)
    values->raw_clock.tv_nsec = core.runtime.now().time_since_epoch().count();
  return 0;
}

}  // namespace

void describe_clock(ibv_device_attr_ex& attr) {
  constexpr std::uint64_t kKilohertz = 1'000'000;
  attr.completion_timestamp_mask = ~std::uint64_t{0};
  attr.hca_core_clock = kKilohertz;
}

void install_clock(verbs_context& context) {
  context.query_rt_values = query_rt_values;
}

}  // namespace anyrdma::verbs::soft
