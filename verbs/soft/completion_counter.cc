#include "verbs/soft/completion_counter.h"

#include <algorithm>
#include <cerrno>
#include <memory>

#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::uint32_t bit_of(std::size_t operation) {
  return std::uint32_t{1} << operation;
}

}  // namespace

// --- of a queue pair ----------------------------------------------------------------------------

AttachedCounters::~AttachedCounters() {
  for (CompletionCounter* counter : counters_)
    if (counter != nullptr) --counter->users;
}

int AttachedCounters::attach(CompletionCounter& counter, std::uint32_t operations) {
  for (std::size_t i = 0; i < counters_.size(); ++i)
    if ((operations & bit_of(i)) != 0 && counters_[i] != nullptr) return EBUSY;
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if ((operations & bit_of(i)) == 0) continue;
    counters_[i] = &counter;
    ++counter.users;
  }
  return 0;
}

bool AttachedCounters::counts_remote() const {
  return counters_[static_cast<std::size_t>(Counted::kRemoteRead)] != nullptr ||
         counters_[static_cast<std::size_t>(Counted::kRemoteWrite)] != nullptr;
}

void AttachedCounters::count(Counted operation, std::uint64_t bytes, bool success) {
  CompletionCounter* const counter = counters_[static_cast<std::size_t>(operation)];
  if (counter == nullptr) return;
  if (success) {
    counter->done += counter->counts_bytes ? bytes : 1;
  } else {
    ++counter->failed;
  }
}

void AttachedCounters::count_sent(ibv_wc_opcode opcode, std::uint64_t bytes, bool success) {
  if (opcode == IBV_WC_SEND) count(Counted::kSend, bytes, success);
  if (opcode == IBV_WC_RDMA_WRITE) count(Counted::kWrite, bytes, success);
  if (opcode == IBV_WC_RDMA_READ) count(Counted::kRead, bytes, success);
}

// --- of a device --------------------------------------------------------------------------------

CompletionCounter* SoftHca::find_counter(const CompletionCounter* given) const {
  const auto found =
      std::ranges::find_if(counters_, [given](const auto& each) { return each.get() == given; });
  return found == counters_.end() ? nullptr : found->get();
}

Result<CompletionCounter*> SoftHca::create_counter(ibv_context* context, bool counts_bytes) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("create_comp_cntr"); error != 0) return errno_code(error);
  if (counters_.size() >= kCountersMost) return errno_code(ENOMEM);
  counters_.push_back(std::make_unique<CompletionCounter>());
  CompletionCounter& made = *counters_.back();
  made.context = context;
  made.handle = ++counters_made_;
  made.counts_bytes = counts_bytes;
  return &made;
}

Result<void> SoftHca::destroy_counter(const CompletionCounter* counter) {
  CriticalSection section(core_.runtime);
  const CompletionCounter* const found = find_counter(counter);
  if (found == nullptr) return errno_code(EINVAL);
  if (found->users != 0) return errno_code(EBUSY);
  std::erase_if(counters_, [found](const auto& each) { return each.get() == found; });
  return {};
}

Result<void> SoftHca::attach_counter(const ibv_qp& qp, const CompletionCounter* counter,
                                     std::uint32_t operations) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("qp_attach_comp_cntr"); error != 0) return errno_code(error);
  const auto found = core_.handles.find<SoftQp>(qp);
  if (!found) return found.error();
  CompletionCounter* const attached = find_counter(counter);
  SoftQp& soft = **found;
  if (attached == nullptr || operations == 0 || soft.is_name) return errno_code(EINVAL);
  if (operations >= bit_of(kCountedOperations)) return errno_code(EOPNOTSUPP);
  if (soft.state != IBV_QPS_RESET && soft.state != IBV_QPS_INIT) return errno_code(EINVAL);
  if (soft.counters == nullptr) soft.counters = std::make_unique<AttachedCounters>();
  if (const int error = soft.counters->attach(*attached, operations); error != 0)
    return errno_code(error);
  return {};
}

Result<std::uint64_t> SoftHca::change_counter(const CompletionCounter* counter, CounterValue which,
                                              std::uint64_t kept, std::uint64_t added) {
  CriticalSection section(core_.runtime);
  CompletionCounter* const found = find_counter(counter);
  if (found == nullptr) return errno_code(EINVAL);
  std::uint64_t& value = which == CounterValue::kDone ? found->done : found->failed;
  value = (value & kept) + added;
  return value;
}

// --- for the C API ------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kWhole = ~std::uint64_t{0};

/// EINVAL: no object; EOPNOTSUPP: it belongs to no software HCA.
template <class Object>
Result<SoftHca*> device_of(const Object* object) {
  if (object == nullptr) return errno_code(EINVAL);
  auto* const hca = dynamic_cast<SoftHca*>(&provider_of(object->context));
  if (hca == nullptr) return errno_code(EOPNOTSUPP);
  return hca;
}

Result<std::uint64_t> change(const CompletionCounter* counter, CounterValue which,
                             std::uint64_t kept, std::uint64_t added) {
  const Result<SoftHca*> hca = device_of(counter);
  if (!hca) return hca.error();
  return (*hca)->change_counter(counter, which, kept, added);
}

Result<void> without_value(const Result<std::uint64_t>& result) {
  if (!result) return result.error();
  return {};
}

}  // namespace

bool has_counters(const ibv_context* context) {
  return dynamic_cast<SoftHca*>(&provider_of(context)) != nullptr;
}

Result<CompletionCounter*> create_counter(ibv_context* context, bool counts_bytes) {
  if (context == nullptr) return errno_code(EINVAL);
  auto* const hca = dynamic_cast<SoftHca*>(&provider_of(context));
  if (hca == nullptr) return errno_code(EOPNOTSUPP);
  return hca->create_counter(context, counts_bytes);
}

Result<void> destroy_counter(CompletionCounter* counter) {
  const Result<SoftHca*> hca = device_of(counter);
  if (!hca) return hca.error();
  return (*hca)->destroy_counter(counter);
}

Result<void> attach_counter(ibv_qp* qp, CompletionCounter* counter, std::uint32_t operations) {
  const Result<SoftHca*> hca = device_of(qp);
  if (!hca) return hca.error();
  return (*hca)->attach_counter(*qp, counter, operations);
}

Result<void> set_counter(CompletionCounter* counter, CounterValue which, std::uint64_t value) {
  return without_value(change(counter, which, 0, value));
}

Result<void> add_to_counter(CompletionCounter* counter, CounterValue which, std::uint64_t amount) {
  return without_value(change(counter, which, kWhole, amount));
}

Result<std::uint64_t> read_counter(const CompletionCounter* counter, CounterValue which) {
  return change(counter, which, kWhole, 0);
}

}  // namespace anyrdma::verbs::soft
