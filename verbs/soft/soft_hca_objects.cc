// Verbs objects of the software HCA: protection domains, completion queues, queue pairs.
#include <algorithm>
#include <cerrno>
#include <string>
#include <type_traits>
#include <utility>

#include "verbs/assert.h"
#include "verbs/misuse.h"
#include "verbs/soft/qp_transitions.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

// --- protection domains --------------------------------------------------------------------------

Result<ibv_pd*> SoftHca::alloc_pd(ibv_context* context) {
  CriticalSection section(core_.runtime);
  return make_domain(context, "alloc_pd");
}

Result<ibv_pd*> SoftHca::make_domain(ibv_context* context, std::string_view call) {
  if (const int error = core_.refusal(call); error != 0) return errno_code(error);
  if (domains_ >= core_.config.max_pd) return errno_code(ENOMEM);
  auto* pd = new SoftPd{};
  pd->context = context;
  ++domains_;
  pd->handle = core_.handles.add(*pd);
  live_domains_.push_back(*pd);
  return pd;
}

Result<void> SoftHca::dealloc_pd(ibv_pd* pd) {
  CriticalSection section(core_.runtime);
  const auto found = core_.find_to_end<SoftPd>("ibv_dealloc_pd", *pd);
  if (!found) return found.error();
  SoftPd* const soft = *found;
  if (soft->users != 0) return errno_code(EBUSY);
  if (soft->protection != nullptr) --soft->protection->users;
  if (soft->thread_domain != nullptr) --soft->thread_domain->users;
  --domains_;
  delete soft;
  return {};
}

// --- completion channels and queues -------------------------------------------------------------

Result<ibv_comp_channel*> SoftHca::create_comp_channel(ibv_context* context) {
  auto semaphore = core_.runtime.make_semaphore();
  if (!semaphore) return semaphore.error();
  (*semaphore)->set_purpose("a completion event");
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("create_comp_channel"); error != 0) return errno_code(error);
  auto* channel = new SoftChannel{};
  channel->context = context;
  channel->fd = channel->descriptor = (*semaphore)->fd();
  channel->semaphore = std::move(*semaphore);
  live_channels_.push_back(*channel);
  return channel;
}

Result<void> SoftHca::destroy_comp_channel(ibv_comp_channel* channel) {
  CriticalSection section(core_.runtime);
  if (!is_live(channel)) return errno_code(EBADF);
  if (channel->refcnt != 0) return errno_code(EBUSY);
  delete static_cast<SoftChannel*>(channel);
  return {};
}

bool SoftHca::is_live(const ibv_comp_channel* channel) const {
  return std::ranges::any_of(live_channels_,
                             [channel](const SoftChannel& live) { return &live == channel; });
}

// As the kernel finds one: by its descriptor, which must be of that context. Where there are no
// descriptors (simulator), the pointer is all there is.
Result<SoftChannel*> SoftHca::find_channel(const ibv_context* context,
                                           const ibv_comp_channel& given) {
  if (given.context != context) return errno_code(EBADF);
  if (given.fd == -1) return const_cast<SoftChannel*>(static_cast<const SoftChannel*>(&given));
  for (SoftChannel& channel : live_channels_)
    if (channel.descriptor == given.fd && channel.context == context) return &channel;
  return errno_code(EBADF);
}

Result<ibv_cq*> SoftHca::create_cq(ibv_context* context, int cqe, void* cq_context,
                                   ibv_comp_channel* channel, int comp_vector) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("create_cq"); error != 0) return errno_code(error);
  if (cqe < 1 || static_cast<std::uint32_t>(cqe) > core_.config.max_cqe) return errno_code(EINVAL);
  if (comp_vector < 0 || comp_vector >= context->num_comp_vectors) return errno_code(EINVAL);
  SoftChannel* announced_by = nullptr;
  if (channel != nullptr) {
    const auto found = find_channel(context, *channel);
    if (!found) return found.error();
    announced_by = *found;
  }
  if (completion_queues_ >= core_.config.max_cq) return errno_code(ENOMEM);
  SoftContext& soft = SoftContext::from(context);
  auto* cq = new SoftCq(soft, cqe, cq_context, announced_by);
  ++completion_queues_;
  cq->made = ++core_.objects().completion_queues;
  live_completion_queues_.push_back(*cq);
  return cq;
}

Result<void> SoftHca::destroy_cq(ibv_cq* cq) {
  const auto found = find_to_end<SoftCq>("ibv_destroy_cq", *cq);
  if (!found) return found.error();
  SoftCq* const soft = *found;
  bool busy = false;
  const auto result = wait_for_acknowledgements(*soft, [this, soft, &busy] {
    busy = soft->users != 0;
    if (busy) return true;
    const bool acknowledged =
        soft->taken == soft->acknowledged && soft->async_taken == soft->async_acknowledged;
    if (!acknowledged) return false;
    SoftContext& context = SoftContext::from(soft->context);
    context.forget_cq(*soft);
    --completion_queues_;
    delete soft;
    return true;
  });
  if (!result) return result;
  if (busy) return errno_code(EBUSY);
  return {};
}

Result<ibv_cq*> SoftHca::get_cq_event(ibv_comp_channel* channel) {
  auto* soft = static_cast<SoftChannel*>(channel);
  // Another thread may destroy the channel while this one waits, as rping does at its end.
  std::shared_ptr<Semaphore> semaphore;
  {
    CriticalSection section(core_.runtime);
    if (!is_live(channel)) return errno_code(EBADF);
    semaphore = soft->semaphore;
  }
  while (true) {
    if (const auto waited = semaphore->wait(); !waited) return waited.error();
    if (core_.gate != nullptr) core_.gate->on_take();
    CriticalSection section(core_.runtime);
    if (!is_live(channel) || soft->semaphore != semaphore) return errno_code(EBADF);
    if (soft->announced.empty()) continue;  // its queue was destroyed meanwhile
    SoftCq* cq = soft->announced.pop_front();
    ++cq->taken;
    cq->taker = core_.runtime.mark();
    return cq;
  }
}

void SoftHca::ack_cq_events(ibv_cq* cq, unsigned count) {
  CriticalSection section(core_.runtime);
  auto* soft = static_cast<SoftCq*>(cq);
  const std::uint32_t owed = soft->taken - soft->acknowledged;
  if (count > owed) {
    report_misuse(core_.runtime,
                  {"ibv_ack_cq_events", "completion queue " + std::to_string(soft->made),
                   "acknowledges " + std::to_string(count) + " completion events of " +
                       std::to_string(owed) + " that were taken and not yet acknowledged"});
    count = owed;
  }
  soft->acknowledged += count;
  soft->comp_events_completed += count;
  if (soft->destroyer != nullptr) soft->destroyer->post();
}

// --- queue pairs --------------------------------------------------------------------------------

int SoftHca::check_capabilities(const ibv_qp_init_attr& init) const {
  const HcaConfig& config = core_.config;
  const ibv_qp_cap& cap = init.cap;
  const bool extended = init.qp_type == IBV_QPT_XRC_SEND || init.qp_type == IBV_QPT_XRC_RECV;
  if ((extended && !config.xrc) || (init.qp_type == IBV_QPT_UC && !config.uc)) return EOPNOTSUPP;
  if (init.qp_type == IBV_QPT_XRC_RECV) return init.srq == nullptr ? 0 : EINVAL;
  const bool sends_only = init.qp_type == IBV_QPT_XRC_SEND;
  if (!sends_only && init.qp_type != IBV_QPT_RC && init.qp_type != IBV_QPT_UC &&
      init.qp_type != IBV_QPT_UD)
    return EOPNOTSUPP;
  if (init.send_cq == nullptr || (init.recv_cq == nullptr && !sends_only)) return EINVAL;
  if (sends_only && init.srq != nullptr) return EINVAL;
  if (cap.max_send_wr > config.max_qp_wr || cap.max_send_sge > config.max_sge) return EINVAL;
  // With a shared receive queue there is none of its own (ibv_create_qp(3)).
  if (init.srq == nullptr &&
      (cap.max_recv_wr > config.max_qp_wr || cap.max_recv_sge > config.max_sge))
    return EINVAL;
  if (cap.max_inline_data > config.max_inline_data) return EINVAL;
  return 0;
}

namespace {

// What is named to the kernel through one descriptor was made through it.
template <class Object, class Given>
Result<void> look_up(const HandleTable& handles, const ibv_context* context, Given*& given) {
  if (given == nullptr) return {};
  const auto found = handles.find<Object>(context, *given);
  if (!found) return found.error();
  given = *found;
  return {};
}

Result<void> look_up_queues(const HandleTable& handles, const ibv_context* context,
                            ibv_qp_init_attr& init) {
  if (auto sends = look_up<SoftCq>(handles, context, init.send_cq); !sends) return sends;
  if (auto receives = look_up<SoftCq>(handles, context, init.recv_cq); !receives) return receives;
  return look_up<SoftSrq>(handles, context, init.srq);
}

// Only the halves of extended connections lack queues; what is not used is not kept.
void drop_unused(ibv_qp_init_attr& init) {
  if (init.qp_type != IBV_QPT_XRC_SEND && init.qp_type != IBV_QPT_XRC_RECV) return;
  init.recv_cq = nullptr;
  init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
  if (init.qp_type == IBV_QPT_XRC_SEND) return;
  init.send_cq = nullptr;
  init.cap = ibv_qp_cap{};
}

}  // namespace

// The next free number, round-robin: a number comes back as late as possible, so that stale packets
// find nobody. 0 when all are taken.
std::uint32_t SoftHca::allocate_number() {
  const HcaConfig& config = core_.config;
  for (std::uint32_t tries = 0; tries < config.qpn_count; ++tries) {
    const std::uint32_t index = next_number_;
    next_number_ = index + 1 == config.qpn_count ? 0 : index + 1;
    if (index >= numbers_.size()) numbers_.resize(index + 1, nullptr);
    if (numbers_[index] == nullptr) return config.qpn_first + index;
  }
  return 0;
}

Result<ibv_qp*> SoftHca::create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  if (init->qp_type == IBV_QPT_XRC_RECV) return errno_code(EINVAL);  // it has no such domain
  return make_qp({pd->context, pd, nullptr}, *init);
}

Result<QpOwner> SoftHca::look_up(const GivenQpOwner& given) const {
  QpOwner owner{given.context, nullptr, nullptr};
  if (given.pd != nullptr) {
    const auto pd = core_.handles.find<SoftPd>(given.context, *given.pd);
    if (!pd) return pd.error();
    owner.pd = &protecting(*pd);
  }
  if (given.xrcd != nullptr) {
    const auto xrcd = find_live(given.context, *given.xrcd);
    if (!xrcd) return xrcd.error();
    owner.xrcd = *xrcd;
  }
  return owner;
}

Result<ibv_qp*> SoftHca::make_qp(const GivenQpOwner& given, ibv_qp_init_attr& init) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("create_qp"); error != 0) return errno_code(error);
  if (const int error = check_capabilities(init); error != 0) return errno_code(error);
  drop_unused(init);
  const auto owner = look_up(given);
  if (!owner) return owner.error();
  if (const auto queues = look_up_queues(core_.handles, given.context, init); !queues)
    return queues.error();
  if (live_queue_pairs_ >= core_.config.max_qp) return errno_code(ENOMEM);
  const std::uint32_t number = allocate_number();
  if (number == 0) return errno_code(ENOMEM);
  if (spare_queue_pairs_.empty()) {
    queue_pairs_.push_back(std::make_unique<SoftQp>(core_));
    spare_queue_pairs_.push_back(queue_pairs_.back().get());
  }
  SoftQp* qp = spare_queue_pairs_.back();
  spare_queue_pairs_.pop_back();
  // A slot holds a request's list or its data, so the room for one is there for the other, as with
  // rxe. rdma_xclient counts on it: it sends inline without having asked.
  const auto list = static_cast<std::uint32_t>(init.cap.max_send_sge * sizeof(ibv_sge));
  init.cap.max_inline_data = std::max(init.cap.max_inline_data, list);
  qp->open(*owner, init, number);
  qp->made = ++core_.objects().queue_pairs;
  numbers_[number - core_.config.qpn_first] = qp;
  ++live_queue_pairs_;
  init.cap = qp->cap;
  return qp;
}

Result<void> SoftHca::destroy_qp(ibv_qp* qp) {
  const auto found = find_to_end<SoftQp>("ibv_destroy_qp", *qp);
  if (!found) return found.error();
  SoftQp* const soft = *found;
  bool busy = false;
  const auto result = wait_for_acknowledgements(*soft, [this, soft, &busy] {
    busy = soft->groups != 0;  // as the kernel says while the QP is attached to one
    if (busy) return true;
    if (soft->async_taken != soft->async_acknowledged) return false;
    if (soft->is_name) {
      close_name(*soft);
    } else if (soft->names.empty()) {
      retire(*soft);
    } else {
      soft->abandoned = true;
      SoftContext::from(soft->context).forget_qp(*soft);
    }
    return true;
  });
  if (result && busy) return errno_code(EBUSY);
  return result;
}

void SoftHca::retire(SoftQp& qp) {
  numbers_[qp.qp_num - core_.config.qpn_first] = nullptr;
  --live_queue_pairs_;
  qp.close();
  spare_queue_pairs_.push_back(&qp);
}

namespace {

constexpr std::uint16_t kMulticastLidFirst = 0xc000;  // IBTA vol 1, 4.1.3

// A name of a shared QP stands for that. EINVAL: which is no more.
Result<SoftQp*> named_by(const HandleTable& handles, const ibv_qp& qp) {
  const auto found = handles.find<SoftQp>(qp);
  if (!found || !(*found)->is_name) return found;
  if ((*found)->named == nullptr) return errno_code(EINVAL);
  return (*found)->named;
}

}  // namespace

int SoftHca::check_path(const ibv_ah_attr& address) const {
  if (!has_port(address.port_num)) return EINVAL;
  if (address.is_global == 0) {
    // RoCE knows no address without a global part (kernel: rdma_check_ah_attr).
    const bool lids = core_.config.link_layer == IBV_LINK_LAYER_INFINIBAND;
    const bool unicast = address.dlid != 0 && address.dlid < kMulticastLidFirst;
    return lids && unicast && own_gid(lid_gid_of(address.port_num)) ? 0 : EINVAL;
  }
  if (address.grh.sgid_index >= kGidTableSize) return EINVAL;
  return own_gid(at(address.port_num).gids[address.grh.sgid_index]) ? 0 : EINVAL;
}

// As the kernel checks them (uverbs_cmd.c: modify_qp).
bool SoftHca::ports_fit(const SoftQp& qp, const ibv_qp_attr& attr, int mask) const {
  const auto given = [mask](int bit) { return (mask & bit) != 0; };
  if (given(IBV_QP_PORT) && !has_port(attr.port_num)) return false;
  const std::uint8_t own = given(IBV_QP_PORT) ? attr.port_num : qp.attr.port_num;
  if (given(IBV_QP_AV) && attr.ah_attr.port_num != own) return false;
  return !given(IBV_QP_ALT_PATH) ||
         (has_port(attr.alt_port_num) && attr.alt_ah_attr.port_num == attr.alt_port_num);
}

int SoftHca::check_attributes(const SoftQp& qp, const ibv_qp_attr& attr, int mask) const {
  const HcaConfig& config = core_.config;
  const auto given = [mask](int bit) { return (mask & bit) != 0; };
  if (given(IBV_QP_CUR_STATE) && attr.cur_qp_state != qp.state) return EINVAL;
  if (given(IBV_QP_PKEY_INDEX) && attr.pkey_index != 0) return EINVAL;
  if (!ports_fit(qp, attr, mask)) return EINVAL;
  if (given(IBV_QP_PATH_MTU) && (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > config.active_mtu))
    return EINVAL;
  if (given(IBV_QP_DEST_QPN) && attr.dest_qp_num > 0xffffff) return EINVAL;
  if (given(IBV_QP_TIMEOUT) && attr.timeout > 31) return EINVAL;
  if (given(IBV_QP_RETRY_CNT) && attr.retry_cnt > 7) return EINVAL;
  if (given(IBV_QP_RNR_RETRY) && attr.rnr_retry > 7) return EINVAL;
  if (given(IBV_QP_MIN_RNR_TIMER) && attr.min_rnr_timer > 31) return EINVAL;
  if (given(IBV_QP_MAX_QP_RD_ATOMIC) && attr.max_rd_atomic > config.max_qp_init_rd_atom)
    return EINVAL;
  if (given(IBV_QP_MAX_DEST_RD_ATOMIC) && attr.max_dest_rd_atomic > config.max_qp_rd_atom)
    return EINVAL;
  if (const int error = check_migration(qp, attr, mask); error != 0) return error;
  return given(IBV_QP_AV) ? check_path(attr.ah_attr) : 0;
}

// A device without automatic path migration keeps the attributes for ibv_query_qp, as rxe does.
int SoftHca::check_migration(const SoftQp& qp, const ibv_qp_attr& attr, int mask) const {
  const bool loads = (mask & IBV_QP_ALT_PATH) != 0;
  if (!core_.config.path_migration) return 0;
  if ((mask & IBV_QP_PATH_MIG_STATE) != 0 && !qp.may_set_migration(attr.path_mig_state, loads))
    return EINVAL;
  if (!loads) return 0;
  if (attr.alt_pkey_index != 0 || attr.alt_timeout > 31) return EINVAL;
  return check_path(attr.alt_ah_attr);
}

Result<void> SoftHca::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("modify_qp"); error != 0) return errno_code(error);
  const auto named = named_by(core_.handles, *qp);
  if (!named) return named.error();
  SoftQp& soft = **named;
  mask &= ~ignored_attributes(soft.qp_type);
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attr->qp_state : soft.state;
  if (!transition_allowed(soft.qp_type, soft.state, to, mask)) return errno_code(EINVAL);
  if (const int error = check_attributes(soft, *attr, mask); error != 0) return errno_code(error);
  if ((mask & IBV_QP_AV) != 0) soft.path = path_of(attr->ah_attr);
  const bool migrates = core_.config.path_migration && (mask & IBV_QP_PATH_MIG_STATE) != 0;
  soft.apply(*attr, migrates ? mask & ~IBV_QP_PATH_MIG_STATE : mask);
  if (core_.config.path_migration && (mask & IBV_QP_ALT_PATH) != 0)
    soft.load_alternate(path_of(attr->alt_ah_attr));
  if (migrates) soft.set_migration(attr->path_mig_state);
  soft.publish();
  return {};
}

Result<void> SoftHca::query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  const auto named = named_by(core_.handles, *qp);
  if (!named) return named.error();
  const SoftQp& soft = **named;
  // Everything is cheap here, so everything is given, as ibv_query_qp(3) allows.
  *attr = soft.attr;
  attr->qp_state = attr->cur_qp_state = soft.state;
  attr->cap = soft.cap;
  attr->sq_draining = soft.state == IBV_QPS_SQD && !soft.requester.drained();
  *init = ibv_qp_init_attr{};
  init->qp_context = soft.qp_context;
  init->send_cq = soft.send_cq;
  init->recv_cq = soft.recv_cq;
  init->srq = soft.srq;
  init->cap = soft.cap;
  init->qp_type = soft.qp_type;
  init->sq_sig_all = soft.signal_all ? 1 : 0;
  return {};
}

ibv_qp_ex* SoftHca::qp_to_qp_ex(ibv_qp* qp) {
  return static_cast<SoftQp*>(qp)->builder ? reinterpret_cast<ibv_qp_ex*>(qp) : nullptr;
}

// --- the end of a context -----------------------------------------------------------------------

// What a program has left behind ends with its context, as in the kernel, which sees a descriptor
// closed. perftest counts on it. The structs stay: see Graveyard.
void SoftHca::end_objects_of(const ibv_context* context) {
  const auto made_here = [context](const auto& object) { return object.context == context; };
  const auto spare = static_cast<std::ptrdiff_t>(spare_queue_pairs_.size());
  const auto end = [&]<class Shown>(auto& list, std::uint32_t& count, std::type_identity<Shown>) {
    list.remove_and_dispose_if(made_here, [&](auto* object) {
      --count;
      graveyard_.bury<Shown>(object);
    });
  };
  std::erase_if(names_, [&](auto& name) {
    if (!made_here(*name)) return false;
    name->let_go();
    graveyard_.bury<ibv_qp>(name.release());
    return true;
  });
  for (SoftQp* qp : numbers_) {
    if (qp == nullptr || !made_here(*qp)) continue;
    groups_.detach_everywhere(*qp);
    if (qp->effects) qp->effects->drop();  // the memory of a process ends with it
    retire(*qp);
  }
  // So that these are used again last.
  std::rotate(spare_queue_pairs_.begin(), spare_queue_pairs_.begin() + spare,
              spare_queue_pairs_.end());
  std::uint32_t uncounted = 0;
  core_.memory.for_each_of(context, [this](SoftMr& region) { unpublish(core_, region); });
  core_.lent.keep_all();
  core_.memory.remove_all_of(context, graveyard_);
  end(live_address_handles_, address_handles_, std::type_identity<ibv_ah>{});
  for (SoftQp* qp : numbers_) {
    const SoftSrq* source = qp != nullptr && qp->srq == nullptr ? qp->receives.source() : nullptr;
    if (source != nullptr && made_here(*source)) qp->receives.let_go();
  }
  end(live_shared_receive_queues_, shared_receive_queues_, std::type_identity<ibv_srq>{});
  end(live_completion_queues_, completion_queues_, std::type_identity<ibv_cq>{});
  end(live_xrc_domains_, uncounted, std::type_identity<ibv_xrcd>{});
  end(live_channels_, uncounted, std::type_identity<ibv_comp_channel>{});
  end(live_domains_, domains_, std::type_identity<ibv_pd>{});
  end(live_thread_domains_, uncounted, std::type_identity<ibv_td>{});
}

// --- enhanced connection establishment ----------------------------------------------------------

// Both sides agree before the QP learns of its peer. The peer can only take options away.
Result<void> SoftHca::set_ece(ibv_qp* qp, const ibv_ece& ece) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  const auto& own = core_.config.ece;
  if (!own) return errno_code(EOPNOTSUPP);
  const auto found = core_.handles.find<SoftQp>(*qp);
  if (!found) return found.error();
  SoftQp& soft = **found;
  if (ece.vendor_id != own->vendor_id || ece.comp_mask != 0) return errno_code(EINVAL);
  if (soft.state != IBV_QPS_RESET && soft.state != IBV_QPS_INIT) return errno_code(EINVAL);
  soft.ece_options = own->options & ece.options;
  return {};
}

Result<ibv_ece> SoftHca::query_ece(ibv_qp* qp) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  const auto& own = core_.config.ece;
  if (!own) return errno_code(EOPNOTSUPP);
  const auto found = core_.handles.find<SoftQp>(*qp);
  if (!found) return found.error();
  return ibv_ece{.vendor_id = own->vendor_id, .options = (*found)->ece_options, .comp_mask = 0};
}

}  // namespace anyrdma::verbs::soft
