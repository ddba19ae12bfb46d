#include "verbs/soft/context.h"

#include <pthread.h>

#include <limits>  // __VERBS_ABI_IS_EXTENDED
#include <utility>

#include "verbs/misuse.h"
#include "verbs/soft/core.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/races.h"

namespace anyrdma::verbs::soft {

void Core::report_stale(std::string_view call, ObjectKind kind, std::uint32_t handle) const {
  const std::string subject = std::string(name_of(kind)) + " with handle " + std::to_string(handle);
  report_misuse(runtime, {call, subject, "was destroyed already"});
}

namespace {

constexpr int kCompletionVectors = 4;

}  // namespace

// Of those that have an object.
std::string_view event_name(ibv_event_type type) {
  switch (static_cast<int>(type)) {
    case IBV_EVENT_CQ_ERR:
      return "CQ_ERR";
    case IBV_EVENT_QP_FATAL:
      return "QP_FATAL";
    case IBV_EVENT_QP_REQ_ERR:
      return "QP_REQ_ERR";
    case IBV_EVENT_QP_ACCESS_ERR:
      return "QP_ACCESS_ERR";
    case IBV_EVENT_COMM_EST:
      return "COMM_EST";
    case IBV_EVENT_SQ_DRAINED:
      return "SQ_DRAINED";
    case IBV_EVENT_PATH_MIG:
      return "PATH_MIG";
    case IBV_EVENT_PATH_MIG_ERR:
      return "PATH_MIG_ERR";
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return "QP_LAST_WQE_REACHED";
    case IBV_EVENT_SRQ_ERR:
      return "SRQ_ERR";
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return "SRQ_LIMIT_REACHED";
  }
  return "an event";
}

bool is_qp_event(ibv_event_type type) {
  switch (static_cast<int>(type)) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return true;
  }
  return false;
}

bool is_srq_event(ibv_event_type type) {
  return type == IBV_EVENT_SRQ_ERR || type == IBV_EVENT_SRQ_LIMIT_REACHED;
}

SoftContext::SoftContext(Provider& owner, Core& core, ibv_device* device,
                         std::unique_ptr<Semaphore> units)
    : ProvidedContext{}, async_units(std::move(units)), core_(core) {
  provider = &owner;
  vctx.sz = sizeof(verbs_context);
  ibv_context& context = vctx.context;
  context.device = device;
  context.async_fd = async_units->fd();
  context.cmd_fd = async_units->fd();  // valid where there are descriptors; never read
  context.num_comp_vectors = kCompletionVectors;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  pthread_mutex_init(&context.mutex, nullptr);
  choose_operations();
}

SoftContext::~SoftContext() {
  pthread_mutex_destroy(&vctx.context.mutex);
}

void SoftContext::choose_operations() {
  install_operations(vctx);
  if (core_.gate != nullptr) install_gated_operations(vctx);
  if (core_.observer != nullptr) install_observed_operations(*this);
  if (thread_sanitizer::is_enabled() && core_.races == nullptr)
    core_.races = std::make_shared<Races>(core_);
  if (core_.races != nullptr) install_race_operations(*this);
}

void SoftContext::raise(const ibv_async_event& event) {
  events.push_back(event);
  async_units->post();
  if (core_.observer != nullptr) core_.observer->on_raised(event);
}

void SoftContext::raise_cq(SoftCq& cq, ibv_event_type type) {
  ibv_async_event event{};
  event.element.cq = &cq;
  event.event_type = type;
  raise(event);
}

void SoftContext::raise_qp(SoftQp& qp, ibv_event_type type) {
  ibv_async_event event{};
  event.element.qp = &qp;
  event.event_type = type;
  raise(event);
}

void SoftContext::raise_srq(SoftSrq& srq, ibv_event_type type) {
  ibv_async_event event{};
  event.element.srq = &srq;
  event.event_type = type;
  raise(event);
}

void SoftContext::raise_port(std::uint8_t port, ibv_event_type type) {
  ibv_async_event event{};
  event.element.port_num = port;
  event.event_type = type;
  raise(event);
}

template <class Predicate>
void SoftContext::forget(Predicate unwanted) {
  const std::size_t gone = events.remove_if(unwanted);
  for (std::size_t i = 0; i < gone; ++i) async_units->try_wait();
}

void SoftContext::forget_cq(const SoftCq& cq) {
  forget([&cq](const ibv_async_event& event) {
    return event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == &cq;
  });
}

void SoftContext::forget_qp(const SoftQp& qp) {
  forget([&qp](const ibv_async_event& event) {
    return is_qp_event(event.event_type) && event.element.qp == &qp;
  });
}

void SoftContext::forget_srq(const SoftSrq& srq) {
  forget([&srq](const ibv_async_event& event) {
    return is_srq_event(event.event_type) && event.element.srq == &srq;
  });
}

}  // namespace anyrdma::verbs::soft
