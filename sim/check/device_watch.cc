#include "sim/check/device_watch.h"

#include <algorithm>
#include <utility>

#include "sim/text/text.h"
#include "verbs/soft/window_key.h"

namespace anyrdma::sim::check {
namespace {

using verbs::soft::QpCensus;

/// Longer ones are judged by their length alone: a digest costs a look at every byte.
constexpr std::uint64_t kDigestBytesMax = 65536;

std::string stream(const ibv_gid& from, std::uint32_t from_qp, const ibv_gid& to,
                   std::uint32_t to_qp, std::uint32_t psn) {
  const auto end = [](const ibv_gid& gid, std::uint32_t qp) {
    return hex_text(gid.raw) + " QP " + std::to_string(qp);
  };
  return end(from, from_qp) + " to " + end(to, to_qp) + " from PSN " + std::to_string(psn);
}

std::vector<ibv_sge> list_of(const ibv_recv_wr& request) {
  return {request.sg_list, request.sg_list + request.num_sge};
}

bool is_send(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// Messages of an extended connection keep their order per shared receive queue.
std::string to_queue(const std::string& stream, std::uint32_t number) {
  return stream + " to SRQ " + std::to_string(number);
}

}  // namespace

const ibv_qp* DeviceWatch::find(std::uint32_t number) const {
  const auto found = pairs_.find(number);
  return found == pairs_.end() ? nullptr : found->second.qp;
}

void DeviceWatch::on_opened(const ibv_qp& qp) {
  pairs_[qp.qp_num] = {};
  pairs_[qp.qp_num].qp = &qp;
  for (const ibv_gid& gid : hca_.gids()) between_.keys.on_address(name_, gid);
  const auto shared = qp.srq == nullptr ? Work::Receives::kOwn : Work::Receives::kShared;
  work_.on_opened(qp.qp_num, qp.qp_type == IBV_QPT_XRC_RECV ? Work::Receives::kNamed : shared,
                  qp.srq);
  announcements_.on_fresh(qp.qp_num);
  between_.afterlife.on_opened(name_, qp.qp_num);
}

void DeviceWatch::name_streams(Pair& pair) const {
  if (!pair.out.empty() && !pair.in.empty()) return;
  const QpCensus census = hca_.census_of(*pair.qp);
  const ibv_qp_attr& attr = census.attr;
  const std::uint32_t own = pair.qp->qp_num;
  pair.peer = attr.ah_attr.grh.dgid;
  const ibv_gid& peer = attr.ah_attr.grh.dgid;
  pair.in = stream(peer, attr.dest_qp_num, census.gid, own, attr.rq_psn);
  if (census.state == IBV_QPS_RTR) return;  // from which PSN it will send is not known yet
  pair.out = stream(census.gid, own, peer, attr.dest_qp_num, attr.sq_psn);
}

void DeviceWatch::on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) {
  work_.on_send(qp.qp_num, request.wr_id, signaled);
  if (qp.qp_type == IBV_QPT_UD) return;
  Pair& pair = pairs_[qp.qp_num];
  name_streams(pair);
  if (qp.qp_type != IBV_QPT_UC) note_access(pair, request, signaled);
  if (is_send(request.opcode)) on_message(pair, request);
}

void DeviceWatch::on_message(const Pair& pair, const ibv_send_wr& request) {
  const std::vector<ibv_sge> list(request.sg_list, request.sg_list + request.num_sge);
  Payload::Message message;
  for (const ibv_sge& piece : list) message.length += piece.length;
  // Inline data has no key to look it up by; what is fenced may be what a READ before it brings.
  const bool is_known = (request.send_flags & (IBV_SEND_INLINE | IBV_SEND_FENCE)) == 0;
  if (is_known && message.length <= kDigestBytesMax) {
    message.digest = hca_.digest(pair.qp->pd, list, message.length);
  }
  const bool extended = pair.qp->qp_type == IBV_QPT_XRC_SEND;
  between_.payload.on_sent(
      extended ? to_queue(pair.out, request.qp_type.xrc.remote_srqn) : pair.out, message);
}

void DeviceWatch::note_access(Pair& pair, const ibv_send_wr& request, bool signaled) {
  Access access{.wr_id = request.wr_id, .signaled = signaled};
  std::uint64_t length = 0;
  for (int i = 0; i < request.num_sge; ++i) length += request.sg_list[i].length;
  if (request.opcode == IBV_WR_LOCAL_INV) {
    access.ended_key = request.invalidate_rkey;
  } else if (request.opcode == IBV_WR_BIND_MW) {
    const auto& binding = request.bind_mw;
    access.bound_key = verbs::soft::bound_key(binding.mw->rkey, binding.rkey);
    between_.keys.on_opened(name_, access.bound_key);
  } else if (is_atomic(request.opcode)) {
    access.remote_key = request.wr.atomic.rkey;
  } else if (!is_send(request.opcode) && length != 0) {
    access.remote_key = request.wr.rdma.rkey;  // nobody looks at that of an empty one
  }
  access.closing = between_.keys.closing_of(pair.peer, access.remote_key);
  pair.accesses.push_back(access);
}

void DeviceWatch::on_sent(Pair& pair, const ibv_cq& cq, const ibv_wc& completion) {
  const bool failed = completion.status != IBV_WC_SUCCESS;
  auto& queue = pair.accesses;
  const auto match = std::find_if(queue.begin(), queue.end(), [&](const Access& each) {
    return each.wr_id == completion.wr_id && (each.signaled || failed);
  });
  if (match == queue.end()) return;
  const bool others_known = !failed && !hca_.has_dropped(cq);  // they succeeded in silence
  while (true) {
    const Access access = queue.front();
    const bool last = match == queue.begin();
    queue.pop_front();
    if (last ? !failed : others_known) on_success(pair, access);
    if (last) return;
  }
}

bool DeviceWatch::is_bound(std::uint32_t key) const {
  return std::ranges::any_of(pairs_, [key](const auto& entry) {
    return std::ranges::any_of(entry.second.accesses,
                               [key](const Access& each) { return each.bound_key == key; });
  });
}

void DeviceWatch::on_success(const Pair& pair, const Access& access) {
  if (access.bound_key != 0) between_.keys.on_opened(name_, access.bound_key);
  if (access.ended_key != 0 && !is_bound(access.ended_key)) {
    between_.keys.on_closed(name_, access.ended_key);
  }
  if (access.closing == 0) return;
  between_.keys.on_success(name_ + " QP " + std::to_string(pair.qp->qp_num), pair.peer,
                           access.remote_key, access.closing);
}

void DeviceWatch::on_posted(const ibv_qp& qp, const ibv_recv_wr& request) {
  work_.on_receive(qp.qp_num, request.wr_id);
  pairs_[qp.qp_num].receives.push_back({request.wr_id, list_of(request)});
}

void DeviceWatch::on_posted(const ibv_srq& srq, const ibv_recv_wr& request) {
  work_.on_shared_receive(&srq, request.wr_id);
  announcements_.on_posted(&srq);
  shared_[&srq].push_back({request.wr_id, list_of(request)});
}

// Of an extended connection: the one that reports to this completion queue and has had such a
// receive. Null when that is none, or more than one.
const ibv_srq* DeviceWatch::queue_of(const Pair& pair, const ibv_cq& cq,
                                     std::uint64_t wr_id) const {
  if (pair.qp->qp_type != IBV_QPT_XRC_RECV) return pair.qp->srq;
  const ibv_srq* found = nullptr;
  for (const auto& [srq, receives] : shared_) {
    const bool has =
        std::ranges::any_of(receives, [wr_id](const Receive& each) { return each.wr_id == wr_id; });
    if (!has || hca_.census_of(*srq).completions != &cq) continue;
    if (found != nullptr) return nullptr;
    found = srq;
  }
  return found;
}

std::vector<ibv_sge> DeviceWatch::take_receive(std::deque<Receive>& queue, std::uint64_t wr_id) {
  const auto found = std::find_if(queue.begin(), queue.end(),
                                  [&](const Receive& each) { return each.wr_id == wr_id; });
  if (found == queue.end()) return {};
  std::vector<ibv_sge> list = std::move(found->list);
  queue.erase(found);
  return list;
}

void DeviceWatch::on_polled(const ibv_cq& cq, const ibv_wc& completion) {
  if (over_) return;
  work_.on_polled(completion, hca_.has_dropped(cq));
  const auto found = pairs_.find(completion.qp_num);
  if (found == pairs_.end() || found->second.qp == nullptr) return;
  if ((completion.opcode & IBV_WC_RECV) != 0) {
    on_received(found->second, cq, completion);
  } else {
    on_sent(found->second, cq, completion);
  }
}

void DeviceWatch::on_received(Pair& pair, const ibv_cq& cq, const ibv_wc& completion) {
  const ibv_qp_type type = pair.qp->qp_type;
  const ibv_srq* const srq = queue_of(pair, cq, completion.wr_id);
  if (type == IBV_QPT_XRC_RECV && srq == nullptr) {
    lost_track_ = true;  // from now on nobody knows what belongs to which queue
    return;
  }
  const std::vector<ibv_sge> list =
      take_receive(srq == nullptr ? pair.receives : shared_[srq], completion.wr_id);
  if (type == IBV_QPT_UD || completion.status != IBV_WC_SUCCESS) return;
  if ((completion.wc_flags & IBV_WC_WITH_INV) != 0 && !is_bound(completion.invalidated_rkey)) {
    between_.keys.on_closed(name_, completion.invalidated_rkey);
  }
  if (completion.opcode != IBV_WC_RECV || hca_.has_dropped(cq)) return;
  Payload::Message message;
  message.length = completion.byte_len;
  if (message.length <= kDigestBytesMax) {
    const ibv_pd* const pd = srq == nullptr ? pair.qp->pd : srq->pd;
    message.digest = hca_.digest(pd, list, message.length);
  }
  name_streams(pair);
  if (type == IBV_QPT_UC) return between_.payload.on_received_of_some(pair.in, message);
  if (type == IBV_QPT_RC) return between_.payload.on_received(pair.in, message);
  if (lost_track_) return;
  between_.payload.on_received(to_queue(pair.in, hca_.census_of(*srq).number), message);
}

// --- what is no work ----------------------------------------------------------------------------

void DeviceWatch::on_closing(const ibv_srq& srq) {
  if (over_) return;
  const verbs::soft::SrqCensus census = hca_.census_of(srq);
  work_.on_closing(&srq, census);
  announcements_.audit(&srq, census);
  announcements_.on_closing(&srq);
  shared_.erase(&srq);
}

void DeviceWatch::on_limit_set(const ibv_srq& srq, std::uint32_t limit) {
  announcements_.on_limit_set(&srq, limit, hca_.census_of(srq));
}

void DeviceWatch::on_raised(const ibv_async_event& event) {
  if (over_) return;
  if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
    announcements_.on_limit_reached(event.element.srq, hca_.census_of(*event.element.srq));
  } else if (event.event_type == IBV_EVENT_QP_LAST_WQE_REACHED) {
    announcements_.on_last_receive(event.element.qp->qp_num);
  }
}

void DeviceWatch::on_atomic_done(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) {
  Pair& pair = pairs_[qp.qp_num];
  name_streams(pair);
  between_.atomics.on_done(pair.in, psn, original);
}

void DeviceWatch::on_atomic_answer(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) {
  between_.atomics.on_answer(pairs_[qp.qp_num].out, psn, original);
}

void DeviceWatch::on_discarding(const ibv_qp& qp, bool destroyed) {
  if (over_) return;
  const QpCensus census = hca_.census_of(qp);
  work_.on_discarding(qp.qp_num, census, destroyed);
  if (destroyed) announcements_.audit(qp.qp_num, qp.srq, census);
  Pair& pair = pairs_[qp.qp_num];
  if (!pair.in.empty()) {
    between_.payload.on_end(pair.in);
    between_.atomics.on_end(pair.in);
  }
  if (!pair.out.empty()) between_.atomics.on_end(pair.out);
  announcements_.on_fresh(qp.qp_num);
  pair = {};
  if (!destroyed) pair.qp = &qp;
}

void DeviceWatch::audit() {
  std::size_t timers = 0;
  for (const ibv_qp* qp : hca_.queue_pairs()) {
    const QpCensus census = hca_.census_of(*qp);
    timers += census.timers;
    work_.audit(qp->qp_num, census);
    announcements_.audit(qp->qp_num, qp->srq, census);
    leaks_.on_timers(name_, qp->qp_num, census);
    if (census.state == IBV_QPS_RTS && census.type == IBV_QPT_RC) {
      between_.afterlife.on_ready_to_send(name_, qp->qp_num);
    }
  }
  for (const ibv_srq* srq : work_.shared_queues()) {
    const verbs::soft::SrqCensus queue = hca_.census_of(*srq);
    work_.audit(srq, queue);
    announcements_.audit(srq, queue);
  }
  const verbs::soft::Census census = hca_.census();
  leaks_.on_timers(name_, census.timers, timers + census.queue_timers);
}

void DeviceWatch::on_rest() {
  if (!over_) audit();
}

void DeviceWatch::on_end() {
  if (over_) return;
  audit();
  leaks_.on_device_end(name_, hca_.census());
  over_ = true;
}

}  // namespace anyrdma::sim::check
