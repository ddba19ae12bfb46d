#include "recording/work/observer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "verbs/soft/window_key.h"

namespace anyrdma::recording {
namespace {

constexpr std::uint64_t kLane = 0;  // the sink knows it
/// Longer messages are known by their length alone: a digest costs a look at every byte.
constexpr std::uint64_t kDigestBytesMax = 65536;
/// Of a shared receive queue that no peer names; others have the number that peers name.
constexpr std::uint64_t kOwnNumbers = std::uint64_t{1} << 32;

/// Adds a word to a digest: FNV-1a, a word at a time.
std::uint64_t mixed(std::uint64_t digest, std::uint64_t word) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  return (digest ^ word) * kPrime;
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/// Of what it does to the peer's memory.
std::uint64_t digest_of_atomic(const ibv_send_wr& request) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;
  const auto& atomic = request.wr.atomic;
  return mixed(mixed(mixed(kBasis, atomic.remote_addr), atomic.compare_add),
               request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? atomic.swap : 0);
}

std::string_view name_of(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RESET:
      return "RESET";
    case IBV_QPS_INIT:
      return "INIT";
    case IBV_QPS_RTR:
      return "RTR";
    case IBV_QPS_RTS:
      return "RTS";
    case IBV_QPS_SQD:
      return "SQD";
    case IBV_QPS_SQE:
      return "SQE";
    case IBV_QPS_ERR:
      return "ERR";
    default:  // foreign enum
      return "UNKNOWN";
  }
}

std::string_view name_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
      return "RDMA_WRITE";
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return "RDMA_WRITE_WITH_IMM";
    case IBV_WR_SEND:
      return "SEND";
    case IBV_WR_SEND_WITH_IMM:
      return "SEND_WITH_IMM";
    case IBV_WR_RDMA_READ:
      return "RDMA_READ";
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return "ATOMIC_CMP_AND_SWP";
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return "ATOMIC_FETCH_AND_ADD";
    case IBV_WR_LOCAL_INV:
      return "LOCAL_INV";
    case IBV_WR_BIND_MW:
      return "BIND_MW";
    case IBV_WR_SEND_WITH_INV:
      return "SEND_WITH_INV";
    default:  // foreign enum
      return "OTHER";
  }
}

std::uint64_t bytes_of(const ibv_sge* list, int count) {
  return std::accumulate(list, list + count, std::uint64_t{0},
                         [](std::uint64_t sum, const ibv_sge& each) { return sum + each.length; });
}

bool is_send(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_SEND_WITH_INV;
}

/// The key that a request names: the peer's, or the one of our own that it invalidates or binds. 0:
/// none, or one that no responder looks at, since the request is empty.
std::uint32_t key_of(const ibv_send_wr& request, std::uint64_t bytes) {
  if (request.opcode == IBV_WR_LOCAL_INV) return request.invalidate_rkey;
  if (request.opcode == IBV_WR_BIND_MW)
    return verbs::soft::bound_key(request.bind_mw.mw->rkey, request.bind_mw.rkey);
  if (is_atomic(request.opcode)) return request.wr.atomic.rkey;
  return is_send(request.opcode) || bytes == 0 ? 0 : request.wr.rdma.rkey;
}

/// Whether two lists name the same memory.
bool overlap(const std::vector<ibv_sge>& left, const std::vector<ibv_sge>& right) {
  return std::ranges::any_of(left, [&right](const ibv_sge& one) {
    return std::ranges::any_of(right, [&one](const ibv_sge& other) {
      return one.addr < other.addr + other.length && other.addr < one.addr + one.length;
    });
  });
}

/// Whether an event names a queue pair.
bool is_of_queue_pair(ibv_event_type type) {
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
    default:  // foreign enum
      return false;
  }
}

}  // namespace

// --- queue pairs --------------------------------------------------------------------------------

void WorkObserver::on_opened(const ibv_qp& qp) {
  if (sink_.is_closed()) return;
  std::uint64_t queue = 0;
  {
    const std::lock_guard lock(mutex_);
    Pair& pair = pairs_[qp.qp_num];
    pair.qp = &qp;
    pair.receives.clear();
    if (qp.srq != nullptr) queue = number_of(*qp.srq);
  }
  sink_.put(entry_of<EntryKind::kOpened>(kLane, qp.qp_num, static_cast<std::uint64_t>(qp.qp_type),
                                         queue));
}

void WorkObserver::on_state(const ibv_qp& qp, ibv_qp_state state) {
  if (sink_.is_closed()) return;
  if (state == IBV_QPS_RTR || state == IBV_QPS_RTS) tell_path(qp);
  sink_.put(entry_of<EntryKind::kQueuePairState>(kLane, qp.qp_num, name_of(state)));
}

void WorkObserver::tell_path(const ibv_qp& qp) {
  if (hca_ == nullptr || qp.qp_type == IBV_QPT_UD) return;
  const verbs::soft::QpCensus census = hca_->census_of(qp);
  std::array<std::uint8_t, 2 * sizeof(ibv_gid)> gids{};
  std::copy_n(census.gid.raw, sizeof(ibv_gid), gids.begin());
  std::copy_n(census.attr.ah_attr.grh.dgid.raw, sizeof(ibv_gid), gids.begin() + sizeof(ibv_gid));
  sink_.put(entry_of<EntryKind::kPath>(
      kLane, qp.qp_num, census.attr.dest_qp_num, census.attr.rq_psn, census.attr.sq_psn,
      static_cast<std::uint64_t>(census.attr.path_mtu), std::span<const std::uint8_t>(gids)));
}

void WorkObserver::on_discarding(const ibv_qp& qp, bool destroyed) {
  if (sink_.is_closed()) return;
  tell_held(qp, destroyed ? Held::kDestroyed : Held::kReset);
  {
    const std::lock_guard lock(mutex_);
    if (destroyed) {
      pairs_.erase(qp.qp_num);
    } else {
      pairs_[qp.qp_num].receives.clear();
    }
  }
  if (destroyed) sink_.put(entry_of<EntryKind::kQueuePairState>(kLane, qp.qp_num, "destroyed"));
}

void WorkObserver::tell_held(const ibv_qp& qp, Held when) {
  if (hca_ == nullptr) return;
  const verbs::soft::QpCensus census = hca_->census_of(qp);
  sink_.put(entry_of<EntryKind::kHeld>(
      kLane, qp.qp_num, static_cast<std::uint64_t>(when), census.sends, census.signaled_sends,
      census.receives, census.sent, census.received, std::uint64_t{census.overrun}, census.timers));
}

// --- what is posted -----------------------------------------------------------------------------

std::optional<std::uint64_t> WorkObserver::digest_of_send(const ibv_qp& qp,
                                                          const ibv_send_wr& request,
                                                          std::uint64_t bytes) const {
  // Inline data has no key to look it up by; what is fenced may be what a READ before it brings.
  const bool is_known = (request.send_flags & (IBV_SEND_INLINE | IBV_SEND_FENCE)) == 0;
  const bool immediate = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (digests_ == Digests::kNone || hca_ == nullptr || qp.qp_type == IBV_QPT_UD)
    return std::nullopt;
  if (is_atomic(request.opcode)) return digest_of_atomic(request);
  if (!(is_send(request.opcode) || immediate) || !is_known || bytes > kDigestBytesMax)
    return std::nullopt;
  const auto digest =
      hca_->digest(qp.pd, {request.sg_list, static_cast<std::size_t>(request.num_sge)}, bytes);
  if (!immediate || !digest) return digest;
  return mixed(mixed(*digest, request.wr.rdma.remote_addr), request.imm_data);
}

void WorkObserver::on_posted(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) {
  if (sink_.is_closed()) return;
  const std::uint64_t bytes = bytes_of(request.sg_list, request.num_sge);
  const auto digest = digest_of_send(qp, request, bytes);
  const std::uint64_t queue = qp.qp_type == IBV_QPT_XRC_SEND ? request.qp_type.xrc.remote_srqn : 0;
  sink_.put(entry_of<EntryKind::kPosted>(kLane, qp.qp_num, name_of(request.opcode), request.wr_id,
                                         bytes,
                                         (signaled ? kSignaled : 0ul) | (digest ? kHasDigest : 0ul),
                                         queue, key_of(request, bytes), digest.value_or(0)));
}

void WorkObserver::on_posted(const ibv_qp& qp, const ibv_recv_wr& request) {
  if (sink_.is_closed()) return;
  if (digests_ != Digests::kNone && qp.qp_type != IBV_QPT_UD) {
    const std::lock_guard lock(mutex_);
    pairs_[qp.qp_num].receives.push_back(
        {request.wr_id, {request.sg_list, request.sg_list + request.num_sge}});
  }
  sink_.put(entry_of<EntryKind::kPosted>(kLane, qp.qp_num, "RECV", request.wr_id,
                                         bytes_of(request.sg_list, request.num_sge), 0u, 0u, 0u,
                                         0u));
}

void WorkObserver::on_posted(const ibv_srq& srq, const ibv_recv_wr& request) {
  if (sink_.is_closed()) return;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = number_of(srq);
    queues_[&srq].receives.push_back(
        {request.wr_id, {request.sg_list, request.sg_list + request.num_sge}});
  }
  sink_.put(entry_of<EntryKind::kPosted>(kLane, 0u, "SRQ_RECV", request.wr_id,
                                         bytes_of(request.sg_list, request.num_sge), 0u, number, 0u,
                                         0u));
}

// --- what completes -----------------------------------------------------------------------------

// Of an extended connection: the one that reports to this completion queue and has had such a
// receive. Null when that is none, or more than one.
const ibv_srq* WorkObserver::queue_of(const ibv_qp& qp, const ibv_cq& cq,
                                      std::uint64_t wr_id) const {
  if (qp.qp_type != IBV_QPT_XRC_RECV || hca_ == nullptr) return qp.srq;
  const ibv_srq* found = nullptr;
  for (const auto& [srq, queue] : queues_) {
    const bool has = std::ranges::any_of(
        queue.receives, [wr_id](const Receive& each) { return each.wr_id == wr_id; });
    if (!has || hca_->census_of(*srq).completions != &cq) continue;
    if (found != nullptr) return nullptr;
    found = srq;
  }
  return found;
}

void WorkObserver::on_polled(const ibv_cq& cq, const ibv_wc& completion) {
  if (sink_.is_closed()) return;
  const bool good = completion.status == IBV_WC_SUCCESS;  // else the rest says nothing
  const bool receive = (completion.opcode & IBV_WC_RECV) != 0;
  const bool dropped = hca_ != nullptr && hca_->has_dropped(cq);
  std::uint64_t queue = 0;
  std::optional<std::uint64_t> digest;
  if (receive) {
    const std::lock_guard lock(mutex_);
    const auto pair = pairs_.find(completion.qp_num);
    const ibv_qp* const qp = pair == pairs_.end() ? nullptr : pair->second.qp;
    const ibv_srq* const srq = qp == nullptr ? nullptr : queue_of(*qp, cq, completion.wr_id);
    if (srq != nullptr) queue = number_of(*srq);
    auto* const receives = srq != nullptr  ? &queues_[srq].receives
                           : qp != nullptr ? &pair->second.receives
                                           : nullptr;
    Receive taken{};
    bool shared = false;  // with a receive that may have been written since
    if (receives != nullptr) {
      const auto found = std::ranges::find(*receives, completion.wr_id, &Receive::wr_id);
      if (found != receives->end()) {
        taken = std::move(*found);
        receives->erase(found);
        shared = std::ranges::any_of(
            *receives, [&](const Receive& each) { return overlap(each.list, taken.list); });
      }
    }
    if (digests_ != Digests::kNone && good && !dropped && completion.opcode == IBV_WC_RECV &&
        !shared && qp != nullptr && qp->qp_type != IBV_QPT_UD && hca_ != nullptr &&
        completion.byte_len <= kDigestBytesMax)
      digest = hca_->digest(srq == nullptr ? qp->pd : srq->pd, taken.list, completion.byte_len);
  }
  const bool invalidates = good && receive && (completion.wc_flags & IBV_WC_WITH_INV) != 0;
  const std::uint64_t flags = (receive ? kOfReceive : 0ul) | (digest ? kHasDigest : 0ul) |
                              (dropped ? kDropped : 0ul) | (invalidates ? kInvalidates : 0ul);
  sink_.put(entry_of<EntryKind::kCompleted>(
      kLane, completion.qp_num, completion.wr_id,
      good ? static_cast<std::uint64_t>(completion.opcode) : 0,
      static_cast<std::uint64_t>(completion.status), std::uint64_t{good ? completion.byte_len : 0},
      flags, queue, std::uint64_t{invalidates ? completion.invalidated_rkey : 0},
      digest.value_or(0)));
}

void WorkObserver::on_raised(const ibv_async_event& event) {
  if (sink_.is_closed()) return;
  const bool of_qp = is_of_queue_pair(event.event_type);
  sink_.put(entry_of<EntryKind::kAsync>(kLane, static_cast<std::uint64_t>(event.event_type),
                                        of_qp ? event.element.qp->qp_num : 0));
  if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
    tell_queue(*event.element.srq, QueueStep::kLimitReached, 0);
}

// --- shared receive queues ----------------------------------------------------------------------

std::uint64_t WorkObserver::number_of(const ibv_srq& srq) {
  Queue& queue = queues_[&srq];
  if (queue.number != 0) return queue.number;
  if (hca_ != nullptr) queue.number = hca_->census_of(srq).number;
  if (queue.number == 0) queue.number = kOwnNumbers + ++queues_made_;
  return queue.number;
}

void WorkObserver::tell_queue(const ibv_srq& srq, QueueStep step, std::uint64_t limit) {
  if (hca_ == nullptr) return;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = number_of(srq);
  }
  sink_.put(entry_of<EntryKind::kSharedQueue>(kLane, number, static_cast<std::uint64_t>(step),
                                              hca_->census_of(srq).receives, limit));
}

void WorkObserver::on_closing(const ibv_srq& srq) {
  if (sink_.is_closed()) return;
  tell_queue(srq, QueueStep::kDestroyed, 0);
  const std::lock_guard lock(mutex_);
  queues_.erase(&srq);
}

void WorkObserver::on_limit_set(const ibv_srq& srq, std::uint32_t limit) {
  if (!sink_.is_closed()) tell_queue(srq, QueueStep::kLimitSet, limit);
}

// --- memory -------------------------------------------------------------------------------------

void WorkObserver::on_atomic_done(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) {
  if (sink_.is_closed()) return;
  sink_.put(entry_of<EntryKind::kAtomic>(kLane, qp.qp_num, psn, original, 1u));
}

void WorkObserver::on_atomic_answer(const ibv_qp& qp, std::uint32_t psn, std::uint64_t original) {
  if (sink_.is_closed()) return;
  sink_.put(entry_of<EntryKind::kAtomic>(kLane, qp.qp_num, psn, original, 0u));
}

void WorkObserver::on_key_opened(std::uint32_t key) {
  if (!sink_.is_closed()) sink_.put(entry_of<EntryKind::kKey>(kLane, key, 1u));
}

void WorkObserver::on_key_closed(std::uint32_t key) {
  if (!sink_.is_closed()) sink_.put(entry_of<EntryKind::kKey>(kLane, key, 0u));
}

// --- counts -------------------------------------------------------------------------------------

void WorkObserver::count() {
  if (hca_ == nullptr || sink_.is_closed()) return;
  std::size_t timers = 0;
  for (const ibv_qp* qp : hca_->queue_pairs()) {
    timers += hca_->census_of(*qp).timers;
    tell_held(*qp, Held::kAtRest);
  }
  std::map<std::uint64_t, const ibv_srq*> by_number;
  for (const auto& [srq, queue] : queues_) by_number[queue.number] = srq;
  for (const auto& [number, srq] : by_number) tell_queue(*srq, QueueStep::kHolds, 0);
  const verbs::soft::Census census = hca_->census();
  sink_.put(entry_of<EntryKind::kTimers>(kLane, census.timers, timers + census.queue_timers));
}

void WorkObserver::count_left() {
  if (hca_ == nullptr || sink_.is_closed()) return;
  count();
  const verbs::soft::Census census = hca_->census();
  const auto left = [this](std::size_t count, std::string_view what) {
    if (count != 0) sink_.put(entry_of<EntryKind::kLeft>(kLane, count, what));
  };
  left(census.queue_pairs, "queue pairs");
  left(census.completion_queues, "completion queues");
  left(census.completion_channels, "completion channels");
  left(census.memory_windows, "memory windows");
  left(census.device_memories, "device memories");
  left(census.memory_regions, "memory regions");
  left(census.protection_domains, "protection domains");
  left(census.address_handles, "address handles");
  left(census.shared_receive_queues, "shared receive queues");
  left(census.extended_domains, "extended connection domains");
  left(census.thread_domains, "thread domains");
  left(census.opened_queue_pairs, "opened names of queue pairs");
}

}  // namespace anyrdma::recording
