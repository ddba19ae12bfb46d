// Completion counters (ibv_create_comp_cntr(3) and others of rdma-core 65).
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/newer_functions.h"
#include "verbs/soft/completion_counter.h"

namespace anyrdma::c_api {
namespace {

using verbs::soft::CompletionCounter;
using verbs::soft::CounterValue;

CompletionCounter* counter_of(ibv_comp_cntr* counter) {
  return reinterpret_cast<CompletionCounter*>(counter);
}

constexpr std::uint32_t kOfRequests = 0;
constexpr std::uint32_t kOfBytes = 1;

Result<CompletionCounter*> create_counter_as(ibv_context* context,
                                             const newer::CompCntrInitAttr* attr) {
  if (context == nullptr || attr == nullptr) return errno_code(EINVAL);
  if (attr->comp_mask != 0 || attr->flags != 0) return errno_code(EINVAL);
  if (attr->type != kOfRequests && attr->type != kOfBytes) return errno_code(EOPNOTSUPP);
  return verbs::soft::create_counter(context, attr->type == kOfBytes);
}

int read_counter_value(ibv_comp_cntr* counter, CounterValue which, std::uint64_t* value) {
  return errno_on_error([&]() -> Result<void> {
    if (value == nullptr) return errno_code(EINVAL);
    const Result<std::uint64_t> found = verbs::soft::read_counter(counter_of(counter), which);
    if (!found) return found.error();
    *value = *found;
    return {};
  });
}

int set_counter_value(ibv_comp_cntr* counter, CounterValue which, std::uint64_t value) {
  return errno_on_error(
      [&] { return verbs::soft::set_counter(counter_of(counter), which, value); });
}

int add_to_counter_value(ibv_comp_cntr* counter, CounterValue which, std::uint64_t amount) {
  return errno_on_error(
      [&] { return verbs::soft::add_to_counter(counter_of(counter), which, amount); });
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;

extern "C" {

// NOLINTNEXTLINE(bugprone-reserved-identifier)
int _ibv_query_comp_cntr_caps(ibv_context* context, ibv_comp_cntr_caps* caps,
                              std::size_t caps_size) {
  if (caps == nullptr || context == nullptr) return EINVAL;
  std::memset(static_cast<void*>(caps), 0, caps_size);
  if (!anyrdma::verbs::soft::has_counters(context)) return EOPNOTSUPP;
  const newer::CompCntrCaps known{
      .max_value = std::numeric_limits<std::uint64_t>::max(),
      .max_counters = anyrdma::verbs::soft::kCountersMost,
      .supported_qp_attach_ops = (1u << anyrdma::verbs::soft::kCountedOperations) - 1};
  std::memcpy(static_cast<void*>(caps), &known, std::min(caps_size, sizeof known));
  return 0;
}

ibv_comp_cntr* ibv_create_comp_cntr(ibv_context* context, ibv_comp_cntr_init_attr* cc_attr) {
  const auto* const attr = reinterpret_cast<const newer::CompCntrInitAttr*>(cc_attr);
  return reinterpret_cast<ibv_comp_cntr*>(
      null_on_error([&] { return create_counter_as(context, attr); }));
}

int ibv_destroy_comp_cntr(ibv_comp_cntr* comp_cntr) {
  return errno_on_error(
      [&] { return anyrdma::verbs::soft::destroy_counter(counter_of(comp_cntr)); });
}

int ibv_set_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t value) {
  return set_counter_value(comp_cntr, CounterValue::kDone, value);
}
int ibv_set_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t value) {
  return set_counter_value(comp_cntr, CounterValue::kFailed, value);
}
int ibv_inc_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t amount) {
  return add_to_counter_value(comp_cntr, CounterValue::kDone, amount);
}
int ibv_inc_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t amount) {
  return add_to_counter_value(comp_cntr, CounterValue::kFailed, amount);
}
int ibv_read_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t* value) {
  return read_counter_value(comp_cntr, CounterValue::kDone, value);
}
int ibv_read_err_comp_cntr(ibv_comp_cntr* comp_cntr, std::uint64_t* value) {
  return read_counter_value(comp_cntr, CounterValue::kFailed, value);
}

int ibv_qp_attach_comp_cntr(ibv_qp* qp, ibv_comp_cntr* comp_cntr,
                            ibv_qp_attach_comp_cntr_attr* attr) {
  const auto* const wanted = reinterpret_cast<const newer::QpAttachCompCntrAttr*>(attr);
  return errno_on_error([&]() -> Result<void> {
    if (wanted == nullptr || wanted->comp_mask != 0) return errno_code(EINVAL);
    return anyrdma::verbs::soft::attach_counter(qp, counter_of(comp_cntr), wanted->op_mask);
  });
}

}  // extern "C"
