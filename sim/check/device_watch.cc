#include "sim/check/device_watch.h"

#include <algorithm>
#include <utility>

#include "sim/text.h"

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

}  // namespace

const ibv_qp* DeviceWatch::find(std::uint32_t number) const {
  const auto found = pairs_.find(number);
  return found == pairs_.end() ? nullptr : found->second.qp;
}

void DeviceWatch::on_opened(const ibv_qp& qp) {
  pairs_[qp.qp_num] = {};
  pairs_[qp.qp_num].qp = &qp;
  work_.on_opened(qp.qp_num, qp.srq);
  afterlife_.on_opened(name_, qp.qp_num);
}

void DeviceWatch::name_streams(Pair& pair) const {
  if (!pair.out.empty() && !pair.in.empty()) return;
  const QpCensus census = hca_.census_of(*pair.qp);
  const ibv_qp_attr& attr = census.attr;
  const std::uint32_t own = pair.qp->qp_num;
  const ibv_gid& peer = attr.ah_attr.grh.dgid;
  pair.in = stream(peer, attr.dest_qp_num, census.gid, own, attr.rq_psn);
  if (census.state == IBV_QPS_RTR) return;  // from which PSN it will send is not known yet
  pair.out = stream(census.gid, own, peer, attr.dest_qp_num, attr.sq_psn);
}

void DeviceWatch::on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) {
  work_.on_send(qp.qp_num, request.wr_id, signaled);
  if (qp.qp_type != IBV_QPT_RC || !is_send(request.opcode)) return;
  const std::vector<ibv_sge> list(request.sg_list, request.sg_list + request.num_sge);
  Payload::Message message;
  for (const ibv_sge& piece : list) message.length += piece.length;
  const bool in_line = (request.send_flags & IBV_SEND_INLINE) != 0;
  if (!in_line && message.length <= kDigestBytesMax) {
    message.digest = hca_.digest(qp.pd, list, message.length);
  }
  Pair& pair = pairs_[qp.qp_num];
  name_streams(pair);
  payload_.on_sent(pair.out, message);
}

void DeviceWatch::on_posted(const ibv_qp& qp, const ibv_recv_wr& request) {
  work_.on_receive(qp.qp_num, request.wr_id);
  pairs_[qp.qp_num].receives.push_back({request.wr_id, list_of(request)});
}

void DeviceWatch::on_posted(const ibv_srq& srq, const ibv_recv_wr& request) {
  work_.on_shared_receive(&srq, request.wr_id);
  shared_[&srq].push_back({request.wr_id, list_of(request)});
}

std::vector<ibv_sge> DeviceWatch::take_receive(Pair& pair, std::uint64_t wr_id) {
  std::deque<Receive>& queue = pair.qp->srq == nullptr ? pair.receives : shared_[pair.qp->srq];
  const auto found = std::find_if(queue.begin(), queue.end(),
                                  [&](const Receive& each) { return each.wr_id == wr_id; });
  if (found == queue.end()) return {};
  std::vector<ibv_sge> list = std::move(found->list);
  queue.erase(found);
  return list;
}

void DeviceWatch::on_polled(const ibv_cq&, const ibv_wc& completion) {
  if (over_) return;
  work_.on_polled(completion);
  if ((completion.opcode & IBV_WC_RECV) == 0) return;
  const auto found = pairs_.find(completion.qp_num);
  if (found == pairs_.end() || found->second.qp == nullptr) return;
  Pair& pair = found->second;
  const std::vector<ibv_sge> list = take_receive(pair, completion.wr_id);
  if (pair.qp->qp_type != IBV_QPT_RC) return;
  if (completion.status != IBV_WC_SUCCESS || completion.opcode != IBV_WC_RECV) return;
  Payload::Message message;
  message.length = completion.byte_len;
  if (message.length <= kDigestBytesMax) {
    const ibv_pd* const pd = pair.qp->srq == nullptr ? pair.qp->pd : pair.qp->srq->pd;
    message.digest = hca_.digest(pd, list, message.length);
  }
  name_streams(pair);
  payload_.on_received(pair.in, message);
}

void DeviceWatch::on_discarding(const ibv_qp& qp, bool destroyed) {
  if (over_) return;
  work_.on_discarding(qp.qp_num, hca_.census_of(qp), destroyed);
  Pair& pair = pairs_[qp.qp_num];
  if (!pair.in.empty()) payload_.on_end(pair.in);
  pair = {};
  if (!destroyed) pair.qp = &qp;
}

void DeviceWatch::audit() {
  std::size_t timers = 0;
  for (const ibv_qp* qp : hca_.queue_pairs()) {
    const QpCensus census = hca_.census_of(*qp);
    timers += census.timers;
    work_.audit(qp->qp_num, census);
    leaks_.on_timers(name_, qp->qp_num, census);
    if (census.state == IBV_QPS_RTS && census.type == IBV_QPT_RC) {
      afterlife_.on_ready_to_send(name_, qp->qp_num);
    }
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
