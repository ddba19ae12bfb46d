#include "verbs/testing/fake_provider.h"

#include <algorithm>
#include <cstring>

#include "verbs/assert.h"

namespace anyrdma::verbs::testing {
namespace {

// More than any request may ask for, so that "what was granted" differs from "what was wanted".
constexpr std::uint32_t kInlineGranted = 64;

}  // namespace

FakeProvider::FakeProvider(Runtime& runtime) : runtime_(runtime) {
  attributes.node_guid = 1;
  attributes.max_qp_rd_atom = 16;
  attributes.max_qp_init_rd_atom = 8;
  provided_.provider = this;
  context()->device = &device_;
}

FakeProvider::~FakeProvider() {
  CM_ASSERT(live == Live{});
}

std::vector<ibv_qp_state> FakeProvider::states_moved_to() const {
  std::vector<ibv_qp_state> states;
  for (const Move& move : moves) states.push_back(move.state);
  return states;
}

Result<void> FakeProvider::query_device(ibv_context*, ibv_device_attr* attr) {
  CriticalSection section(runtime_);
  *attr = attributes;
  return {};
}

Result<void> FakeProvider::query_port(ibv_context*, std::uint8_t, ibv_port_attr*) {
  return errno_code(EOPNOTSUPP);
}

Result<ibv_gid_entry> FakeProvider::query_gid(ibv_context*, std::uint8_t, std::uint32_t) {
  return errno_code(EOPNOTSUPP);
}

Result<__be16> FakeProvider::query_pkey(ibv_context*, std::uint8_t, int) {
  return errno_code(EOPNOTSUPP);
}

Result<ibv_pd*> FakeProvider::alloc_pd(ibv_context* context) {
  CriticalSection section(runtime_);
  if (alloc_pd_error != 0) return errno_code(alloc_pd_error);
  ++live.pds;
  auto* pd = new ibv_pd{};
  pd->context = context;
  return pd;
}

Result<void> FakeProvider::dealloc_pd(ibv_pd* pd) {
  CriticalSection section(runtime_);
  --live.pds;
  delete pd;
  return {};
}

Result<ibv_mr*> FakeProvider::reg_mr(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) {
  return errno_code(EOPNOTSUPP);
}

Result<void> FakeProvider::dereg_mr(ibv_mr*) {
  return errno_code(EOPNOTSUPP);
}

Result<ibv_comp_channel*> FakeProvider::create_comp_channel(ibv_context* context) {
  CriticalSection section(runtime_);
  ++live.channels;
  auto* channel = new ibv_comp_channel{};
  channel->context = context;
  return channel;
}

Result<void> FakeProvider::destroy_comp_channel(ibv_comp_channel* channel) {
  CriticalSection section(runtime_);
  --live.channels;
  delete channel;
  return {};
}

Result<ibv_cq*> FakeProvider::create_cq(ibv_context* context, int cqe, void* cq_context,
                                        ibv_comp_channel* channel, int) {
  CriticalSection section(runtime_);
  if (create_cq_error != 0) return errno_code(create_cq_error);
  ++live.cqs;
  auto* cq = new ibv_cq{};
  cq->context = context;
  cq->cq_context = cq_context;
  cq->channel = channel;
  cq->cqe = cqe;
  return cq;
}

Result<void> FakeProvider::destroy_cq(ibv_cq* cq) {
  CriticalSection section(runtime_);
  --live.cqs;
  delete cq;
  return {};
}

Result<ibv_cq*> FakeProvider::get_cq_event(ibv_comp_channel*) {
  return errno_code(EOPNOTSUPP);
}

Result<ibv_qp*> FakeProvider::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  CriticalSection section(runtime_);
  if (create_qp_error != 0) return errno_code(create_qp_error);
  ++live.qps;
  auto* qp = new ibv_qp{};
  qp->context = pd->context;
  qp->pd = pd;
  qp->send_cq = attr->send_cq;
  qp->recv_cq = attr->recv_cq;
  qp->srq = attr->srq;
  qp->qp_type = attr->qp_type;
  qp->qp_num = next_qpn_++;
  qp->state = IBV_QPS_RESET;
  attr->cap.max_inline_data = kInlineGranted;
  return qp;
}

Result<void> FakeProvider::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  CriticalSection section(runtime_);
  CM_ASSERT((mask & IBV_QP_STATE) != 0);
  moves.push_back({attr->qp_state, attr->max_dest_rd_atomic, attr->max_rd_atomic});
  if (refused_state == attr->qp_state) return errno_code(EINVAL);
  qp->state = attr->qp_state;
  return {};
}

Result<void> FakeProvider::query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr*) {
  CriticalSection section(runtime_);
  attr->qp_state = qp->state;
  return {};
}

Result<void> FakeProvider::destroy_qp(ibv_qp* qp) {
  CriticalSection section(runtime_);
  for (const Attachment& attachment : attached)
    if (attachment.qp == qp) return errno_code(EBUSY);
  --live.qps;
  delete qp;
  return {};
}

Result<ibv_async_event> FakeProvider::get_async_event(ibv_context*) {
  return errno_code(EOPNOTSUPP);
}

Result<ibv_ah*> FakeProvider::create_ah(ibv_pd* pd, const ibv_ah_attr& attr) {
  CriticalSection section(runtime_);
  if (create_ah_error != 0) return errno_code(create_ah_error);
  ++live.ahs;
  ah_paths.push_back(attr);
  auto* ah = new ibv_ah{};
  ah->context = pd->context;
  ah->pd = pd;
  return ah;
}

Result<void> FakeProvider::destroy_ah(ibv_ah* ah) {
  CriticalSection section(runtime_);
  --live.ahs;
  delete ah;
  return {};
}

Result<void> FakeProvider::attach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t lid) {
  CriticalSection section(runtime_);
  if (attach_mcast_error != 0) return errno_code(attach_mcast_error);
  if (find_attachment(qp, gid) == attached.end()) attached.push_back({qp, gid, lid});
  return {};
}

Result<void> FakeProvider::detach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t) {
  CriticalSection section(runtime_);
  const auto found = find_attachment(qp, gid);
  if (found == attached.end()) return errno_code(EINVAL);
  attached.erase(found);
  return {};
}

std::vector<FakeProvider::Attachment>::iterator FakeProvider::find_attachment(const ibv_qp* qp,
                                                                              const ibv_gid& gid) {
  return std::find_if(attached.begin(), attached.end(), [&](const Attachment& attachment) {
    return attachment.qp == qp && std::memcmp(attachment.gid.raw, gid.raw, sizeof gid.raw) == 0;
  });
}

struct FakeProvider::Srq : ibv_srq {
  ibv_srq_attr attr{};
};

Result<ibv_srq*> FakeProvider::create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
  CriticalSection section(runtime_);
  if (create_srq_error != 0) return errno_code(create_srq_error);
  ++live.srqs;
  auto* srq = new Srq{};
  srq->context = pd->context;
  srq->srq_context = init->srq_context;
  srq->pd = pd;
  srq->attr = init->attr;
  return srq;
}

Result<void> FakeProvider::modify_srq(ibv_srq* srq, const ibv_srq_attr& attr, int mask) {
  CriticalSection section(runtime_);
  ibv_srq_attr& mine = static_cast<Srq*>(srq)->attr;
  if ((mask & IBV_SRQ_MAX_WR) != 0) mine.max_wr = attr.max_wr;
  if ((mask & IBV_SRQ_LIMIT) != 0) mine.srq_limit = attr.srq_limit;
  return {};
}

Result<void> FakeProvider::query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
  CriticalSection section(runtime_);
  *attr = static_cast<Srq*>(srq)->attr;
  return {};
}

Result<void> FakeProvider::destroy_srq(ibv_srq* srq) {
  CriticalSection section(runtime_);
  --live.srqs;
  delete static_cast<Srq*>(srq);
  return {};
}

Result<void> FakeProvider::set_ece(ibv_qp*, const ibv_ece& wanted) {
  CriticalSection section(runtime_);
  if (!ece) return errno_code(EOPNOTSUPP);
  if (set_ece_error != 0) return errno_code(set_ece_error);
  eces_set.push_back(wanted);
  return {};
}

Result<ibv_ece> FakeProvider::query_ece(ibv_qp*) {
  CriticalSection section(runtime_);
  if (!ece) return errno_code(EOPNOTSUPP);
  return *ece;
}

}  // namespace anyrdma::verbs::testing
