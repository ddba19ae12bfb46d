#include "verbs/soft/queue_pair.h"
#include "verbs/soft/races.h"

#include <pthread.h>

#include <cerrno>

#include "verbs/assert.h"
#include "verbs/soft/ownership.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr std::size_t kBytesKept =
    std::size_t{64} * 1024;                         // per queue of a QP that waits for reuse
constexpr std::uint16_t kFirstSourcePort = 0xc000;  // IBTA annex A17: the dynamic ports

std::uint16_t source_port(std::uint32_t own, std::uint32_t peer) {
  // Stable for the connection, different for its neighbours, equal in both directions.
  const std::uint32_t mixed = (own ^ peer) * 0x9e3779b1u;
  return static_cast<std::uint16_t>(kFirstSourcePort | (mixed >> 18));
}

}  // namespace

// --- ready list ---------------------------------------------------------------------------------

void ReadyList::add(SoftQp& qp) {
  if (qp.list != nullptr) return;
  qp.list = this;
  qp.ready_next = nullptr;
  qp.ready_previous = last_;
  (last_ != nullptr ? last_->ready_next : first_) = &qp;
  last_ = &qp;
}

void ReadyList::remove(SoftQp& qp) {
  if (qp.list != this) return;
  qp.list = nullptr;
  (qp.ready_previous != nullptr ? qp.ready_previous->ready_next : first_) = qp.ready_next;
  (qp.ready_next != nullptr ? qp.ready_next->ready_previous : last_) = qp.ready_previous;
}

SoftQp* ReadyList::take() {
  SoftQp* qp = first_;
  if (qp != nullptr) remove(*qp);
  return qp;
}

namespace {

roce::Service service_of(ibv_qp_type type) {
  switch (static_cast<int>(type)) {
    case IBV_QPT_UC:
      return roce::Service::kUc;
    case IBV_QPT_UD:
      return roce::Service::kUd;
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
      return roce::Service::kXrc;
  }
  return roce::Service::kRc;
}

}  // namespace

// --- life ---------------------------------------------------------------------------------------

SoftQp::SoftQp(Core& shared) : core(shared), receives(*this), requester(*this), responder(*this) {}

SoftQp::~SoftQp() {
  if (open_now) close();
}

void SoftQp::open(const QpOwner& owner, const ibv_qp_init_attr& init, std::uint32_t number) {
  CM_ASSERT(!open_now);
  open_now = true;
  context = owner.context;
  qp_context = init.qp_context;
  pd = owner.pd;
  xrcd = owner.xrcd;
  abandoned = false;
  send_cq = init.send_cq;
  recv_cq = init.recv_cq;
  srq = init.srq;
  handle = core.handles.add(*this);
  qp_num = number;
  state = IBV_QPS_RESET;
  qp_type = init.qp_type;
  service = service_of(init.qp_type);
  events_completed = 0;
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  attr = ibv_qp_attr{};
  attr.path_mtu = core.config.active_mtu;
  alternate_is_loaded = false;
  cap = init.cap;
  signal_all = init.sq_sig_all != 0;
  established = false;
  ece_options = core.config.ece ? core.config.ece->options : 0;
  async_taken = async_acknowledged = 0;
  destroyer = nullptr;
  use_others(1);
  if (core.memory_chooser != nullptr && effects == nullptr)
    effects = std::make_unique<DelayedEffects>(*this);
  receives.configure();
  if (qp_type == IBV_QPT_UD) {
    datagrams = std::make_unique<DatagramService>(*this);
    datagrams->configure();
    path.udp_source_port = source_port(number, 0);
  } else {
    requester.configure();
    responder.discard();
  }
  if (core.observer != nullptr) core.observer->on_opened(*this);
  if (core.ownership != nullptr) core.ownership->on_opened(*this, cap);
  if (core.races != nullptr) core.races->on_opened(*this);
}

void SoftQp::close() {
  CM_ASSERT(open_now);
  open_now = false;
  registration.end();
  unpublish();
  reset();
  core.memory.unbind_all_of(*this);
  SoftContext::from(context).forget_qp(*this);
  use_others(-1);
  for (SoftQp* name : names) name->named = nullptr;
  names.clear();
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
  requester.trim(kBytesKept);
  receives.trim(kBytesKept);
  datagrams.reset();
  builder.reset();
  counters.reset();
}

// Counts this QP among the users of what it refers to, or no longer.
void SoftQp::use_others(int change) {
  const auto count = [change](unsigned& users) { users += static_cast<unsigned>(change); };
  if (pd != nullptr) count(static_cast<SoftPd*>(pd)->users);
  if (xrcd != nullptr) count(xrcd->users);
  if (send_cq != nullptr) count(send_completions().users);
  if (recv_cq != nullptr) count(receive_completions().users);
  if (srq != nullptr) count(static_cast<SoftSrq*>(srq)->users);
}

void SoftQp::refer_to(SoftQp& qp, SoftXrcd& domain, void* user) {
  is_name = true;
  named = &qp;
  xrcd = &domain;
  context = domain.context;
  qp_context = user;
  handle = core.handles.add(*this);
  qp_num = qp.qp_num;
  qp_type = qp.qp_type;
  service = qp.service;
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  ++domain.users;
  qp.names.push_back(this);
}

void SoftQp::let_go() {
  registration.end();
  SoftContext::from(context).forget_qp(*this);
  --xrcd->users;
  if (named != nullptr) std::erase(named->names, this);
  named = nullptr;
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
}

// To everyone who has a name of it.
void SoftQp::raise(ibv_event_type type) {
  if (!abandoned) SoftContext::from(context).raise_qp(*this, type);
  for (SoftQp* name : names) SoftContext::from(name->context).raise_qp(*name, type);
}

// Forgets what is under way, and what is not read yet.
void SoftQp::reset() {
  if (core.observer != nullptr) core.observer->on_discarding(*this, !open_now);
  if (core.ownership != nullptr) core.ownership->on_discarding(*this, !open_now);
  if (core.races != nullptr) core.races->on_discarded(*this, !open_now);
  if (effects) effects->discard();
  requester.discard();
  responder.discard();
  receives.discard();
  if (datagrams) datagrams->discard();
  core.ready.remove(*this);
  core.held.remove(*this);
  if (send_cq != nullptr) send_completions().purge(qp_num);
  if (recv_cq != nullptr && recv_cq != send_cq) receive_completions().purge(qp_num);
  requester.free_places();
  receives.free_places();
  if (datagrams) datagrams->free_places();
}

// --- attributes ---------------------------------------------------------------------------------

namespace {

void enter(SoftQp& qp, ibv_qp_state to) {
  qp.state = to;
  if (qp.core.observer != nullptr) qp.core.observer->on_state(qp, to);
}

void copy_attributes(ibv_qp_attr& to, const ibv_qp_attr& from, int mask) {
  if ((mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0) to.en_sqd_async_notify = from.en_sqd_async_notify;
  if ((mask & IBV_QP_ACCESS_FLAGS) != 0) to.qp_access_flags = from.qp_access_flags;
  if ((mask & IBV_QP_PKEY_INDEX) != 0) to.pkey_index = from.pkey_index;
  if ((mask & IBV_QP_PORT) != 0) to.port_num = from.port_num;
  if ((mask & IBV_QP_QKEY) != 0) to.qkey = from.qkey;
  if ((mask & IBV_QP_AV) != 0) to.ah_attr = from.ah_attr;
  if ((mask & IBV_QP_PATH_MTU) != 0) to.path_mtu = from.path_mtu;
  if ((mask & IBV_QP_TIMEOUT) != 0) to.timeout = from.timeout;
  if ((mask & IBV_QP_RETRY_CNT) != 0) to.retry_cnt = from.retry_cnt;
  if ((mask & IBV_QP_RNR_RETRY) != 0) to.rnr_retry = from.rnr_retry;
  if ((mask & IBV_QP_RQ_PSN) != 0) to.rq_psn = from.rq_psn & 0xffffff;
  if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) != 0) to.max_rd_atomic = from.max_rd_atomic;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) to.min_rnr_timer = from.min_rnr_timer;
  if ((mask & IBV_QP_SQ_PSN) != 0) to.sq_psn = from.sq_psn & 0xffffff;
  if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) != 0) to.max_dest_rd_atomic = from.max_dest_rd_atomic;
  if ((mask & IBV_QP_PATH_MIG_STATE) != 0) to.path_mig_state = from.path_mig_state;
  if ((mask & IBV_QP_DEST_QPN) != 0) to.dest_qp_num = from.dest_qp_num;
  if ((mask & IBV_QP_ALT_PATH) != 0) {
    to.alt_ah_attr = from.alt_ah_attr;
    to.alt_pkey_index = from.alt_pkey_index;
    to.alt_port_num = from.alt_port_num;
    to.alt_timeout = from.alt_timeout;
  }
}

}  // namespace

void SoftQp::apply(const ibv_qp_attr& wanted, int mask) {
  copy_attributes(attr, wanted, mask);
  if ((mask & IBV_QP_PATH_MTU) != 0) mtu_bytes = Core::mtu_bytes(attr.path_mtu);
  if ((mask & IBV_QP_AV) != 0) path.udp_source_port = source_port(qp_num, attr.dest_qp_num);
  if ((mask & IBV_QP_STATE) == 0) return;
  const ibv_qp_state from = state;
  const ibv_qp_state to = wanted.qp_state;
  if (to == IBV_QPS_ERR) {
    responder.forget_answers();
    enter_error();
    return;
  }
  enter(*this, to);
  if (to == IBV_QPS_RESET) {
    reset();
    const ibv_qp_attr fresh{};
    attr = fresh;
    attr.path_mtu = core.config.active_mtu;
    alternate_is_loaded = false;
    established = false;
  } else if (to == IBV_QPS_RTR) {
    responder.start();
  } else if (to == IBV_QPS_RTS) {
    if (from == IBV_QPS_RTR) start_sending();
    established = true;  // the event is about packets that arrive before RTS
    schedule();
  } else if (to == IBV_QPS_SQD && from == IBV_QPS_RTS) {
    if (drained() && attr.en_sqd_async_notify != 0) raise(IBV_EVENT_SQ_DRAINED);
  }
}

void SoftQp::start_sending() {
  if (datagrams) {
    datagrams->start();
  } else {
    requester.start();
  }
}

namespace {

bool sends_in(ibv_qp_state state) {
  return state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE ||
         state == IBV_QPS_ERR;
}

}  // namespace

int SoftQp::post_send(const ibv_send_wr& request) {
  if (core.removed) return EIO;
  if (!sends_in(state) || qp_type == IBV_QPT_XRC_RECV) return EINVAL;
  return datagrams ? datagrams->post(request) : requester.post(request);
}

int SoftQp::check_sends(const ibv_send_wr& first) const {
  if (core.removed) return EIO;
  if (!sends_in(state)) return EINVAL;
  std::uint32_t room = datagrams ? datagrams->room() : requester.room();
  for (const ibv_send_wr* each = &first; each != nullptr; each = each->next) {
    const int error = datagrams ? datagrams->check(*each) : requester.check(*each);
    if (error != 0) return error;
    if (room-- == 0) return ENOMEM;
  }
  return 0;
}

int SoftQp::post_receive(const ibv_recv_wr& request) {
  if (core.removed) return EIO;
  if (state == IBV_QPS_RESET) return EINVAL;
  const int error = receives.post(request);
  if (error == 0 && effects && state != IBV_QPS_ERR)
    blur(core, pd, {request.sg_list, static_cast<std::size_t>(request.num_sge)});
  return error;
}

void SoftQp::spoil_send(ibv_wc_status status) {
  datagrams ? datagrams->spoil_last(status) : requester.spoil_last(status);
}

void SoftQp::enter_send_error() {
  enter(*this, IBV_QPS_SQE);
  datagrams ? datagrams->flush() : requester.flush();
}

void SoftQp::enter_error(ibv_wc_status cause) {
  const bool was_in_error = state == IBV_QPS_ERR;
  if (!was_in_error) enter(*this, IBV_QPS_ERR);
  publish();
  if (effects) effects->settle();
  requester.flush();
  if (datagrams) datagrams->flush();
  responder.abandon_message();
  receives.flush(core.config.flush_with_cause ? cause : IBV_WC_WR_FLUSH_ERR);
  // It holds nothing of the shared queue any more (IBTA vol 1, 10.9.2.2).
  if (srq != nullptr && !was_in_error) raise(IBV_EVENT_QP_LAST_WQE_REACHED);
  schedule();
}

// --- packets ------------------------------------------------------------------------------------

void SoftQp::on_request(const roce::Envelope& packet, const roce::OpcodeRow& row,
                        std::span<const std::uint8_t> datagram) {
  if (state != IBV_QPS_RTR && state != IBV_QPS_RTS && state != IBV_QPS_SQD &&
      state != IBV_QPS_SQE) {
    ++core.counters.wrong_state;
    return;
  }
  if (!established) {
    established = true;
    publish();
    raise(IBV_EVENT_COMM_EST);
  }
  responder.on_request(packet, row, datagram);
  schedule();
}

void SoftQp::on_response(const roce::Envelope& packet, const roce::OpcodeRow& row,
                         std::span<const std::uint8_t> datagram, Instant now) {
  if (state != IBV_QPS_RTS && state != IBV_QPS_SQD) {
    ++core.counters.wrong_state;
    return;
  }
  if (row.operation == roce::Operation::kAcknowledge) {
    const auto aeth =
        roce::Aeth::parse(roce::view<roce::Aeth>(datagram, packet.bth.opcode, roce::kAeth));
    requester.on_acknowledge(packet.bth, aeth, now);
  } else if (row.operation == roce::Operation::kReadResponse) {
    requester.on_read_response(packet, now);
  } else if (row.operation == roce::Operation::kAtomicAcknowledge) {
    const auto answer = roce::AtomicAckEth::parse(
        roce::view<roce::AtomicAckEth>(datagram, packet.bth.opcode, roce::kAtomicAckEth));
    requester.on_atomic_acknowledge(packet.bth.psn, answer.original, now);
  }
  announce_drained();
  schedule();
}

void SoftQp::announce_drained() {
  if (state != IBV_QPS_SQD || attr.en_sqd_async_notify == 0 || !drained()) return;
  attr.en_sqd_async_notify = 0;
  raise(IBV_EVENT_SQ_DRAINED);
}

PacketPtr SoftQp::next_packet() {
  if (datagrams) return datagrams->next_packet();
  // Answers first: the peer's timer is running.
  PacketPtr packet = responder.next_packet();
  if (!packet) packet = requester.next_packet();
  if (!acknowledged()) announce_drained();  // nobody answers: it is drained once it is sent
  return packet;
}

bool SoftQp::wants_to_send() {
  if (datagrams) return datagrams->wants_to_send();
  return responder.wants_to_send() || requester.wants_to_send();
}

void SoftQp::go_on() {
  announce_drained();
  schedule();
}

void SoftQp::fetch_now() {
  datagrams ? datagrams->fetch_now() : requester.fetch_now();
}

void SoftQp::schedule() {
  if (list != nullptr || !wants_to_send()) return;
  core.runtime.call_for_packets();
  core.ready.add(*this);
}

bool SoftQp::hold() {
  if (!datagrams && acknowledged()) return false;
  const wire::Qpn destination =
      datagrams ? datagrams->next_destination() : wire::Qpn{attr.dest_qp_num};
  if (!core.outlet->is_full(destination)) return false;
  core.held.add(*this);
  return true;
}

PacketPtr SoftQp::make_packet(std::uint8_t opcode, wire::Psn psn, std::size_t payload,
                              bool ack_request, bool solicited) {
  roce::Bth bth;
  bth.opcode = opcode;
  bth.solicited = solicited;
  bth.destination = wire::Qpn{attr.dest_qp_num};
  bth.ack_request = ack_request;
  bth.migration = core.config.path_migration && attr.path_mig_state == IBV_MIG_MIGRATED;
  bth.psn = psn;
  return make_packet(path, bth, payload);
}

}  // namespace anyrdma::verbs::soft
