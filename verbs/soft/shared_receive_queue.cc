#include "verbs/soft/shared_receive_queue.h"

#include <pthread.h>

#include <cerrno>
#include <cstring>

#include "verbs/soft/context.h"
#include "verbs/soft/ownership.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/races.h"
#include "verbs/soft/xrc_domain.h"

namespace anyrdma::verbs::soft {

SoftSrq::SoftSrq(SoftPd& domain, void* user, const ibv_srq_attr& wanted)
    : ibv_srq{}, attr_(wanted) {
  context = domain.context;
  srq_context = user;
  pd = &domain;
  handle = SoftContext::from(context).core().handles.add(*this);
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  attr_.srq_limit = 0;  // set by ibv_modify_srq only (ibv_create_srq(3))
  queue_.configure(attr_.max_wr, list_bytes(),
                   SoftContext::from(context).core().config.free_when_executed);
}

SoftSrq::~SoftSrq() {
  const Core& core = SoftContext::from(context).core();
  if (core.observer != nullptr) core.observer->on_closing(*this);
  if (core.ownership != nullptr) core.ownership->on_closing(*this);
  if (core.races != nullptr) core.races->on_closed(*this);
  if (xrcd_ != nullptr) {
    --xrcd_->users;
    --completions_->users;
    completions_->forget_places(queue_.freed());
    SoftContext::from(context).core().xrc_queues[number_ - 1] = nullptr;
  }
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
}

void SoftSrq::join(SoftXrcd& domain, SoftCq& queue, std::uint32_t number) {
  xrcd_ = &domain;
  completions_ = &queue;
  number_ = number;
  ++domain.users;
  ++queue.users;
}

int SoftSrq::post(const ibv_recv_wr& request) {
  const int error = post_receive(queue_, request, attr_.max_sge);
  if (error == 0) {
    Core& core = SoftContext::from(context).core();
    if (core.ownership != nullptr) core.ownership->on_receive(*this, request);
    blur(core, pd, {request.sg_list, static_cast<std::size_t>(request.num_sge)});
  }
  return error;
}

FreedPlaces SoftSrq::move_front_to(WorkQueue<ReceiveWork>& queue) {
  ReceiveWork& from = queue_.front();
  std::memcpy(static_cast<void*>(&queue.push()), &from,
              sizeof from + from.sge_count * sizeof(ibv_sge));
  const FreedPlaces frees = queue_.give_front();
  if (queue_.size() < attr_.srq_limit) {
    attr_.srq_limit = 0;
    SoftContext::from(context).raise_srq(*this, IBV_EVENT_SRQ_LIMIT_REACHED);
  }
  return frees;
}

int SoftSrq::resize(std::uint32_t max_wr) {
  if (max_wr < queue_.occupied() || max_wr < attr_.srq_limit) return EINVAL;
  attr_.max_wr = max_wr;
  queue_.set_depth(max_wr);
  return 0;
}

int SoftSrq::set_limit(std::uint32_t limit) {
  if (limit > attr_.max_wr) return EINVAL;
  attr_.srq_limit = limit;
  HcaObserver* const observer = SoftContext::from(context).core().observer;
  if (observer != nullptr) observer->on_limit_set(*this, limit);
  return 0;
}

}  // namespace anyrdma::verbs::soft
