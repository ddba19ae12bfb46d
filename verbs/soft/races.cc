#include "verbs/soft/races.h"

#include <algorithm>
#include <string>

#include "verbs/soft/core.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/shared_receive_queue.h"

namespace anyrdma::verbs::soft {
namespace {

Races::Access access_of(ibv_wr_opcode opcode) {
  const bool fetches = opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
                       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  return fetches ? Races::Access::kWrite : Races::Access::kRead;
}

std::string name_of(const ibv_qp& qp, const char* what) {
  return std::string(what) + " of QP " + std::to_string(qp.qp_num);
}

}  // namespace

Races::Pair::Pair(const ibv_qp& pair)
    : qp(&pair),
      sends(name_of(pair, "device: sends")),
      receives(name_of(pair, "device: receives")),
      peer(name_of(pair, "device: requests of the peer")) {}

Races::Pair& Races::pair_of(const ibv_qp& qp) {
  std::unique_ptr<Pair>& pair = pairs_[qp.qp_num];
  if (pair == nullptr) pair = std::make_unique<Pair>(qp);
  return *pair;
}

Races::Queue& Races::queue_of(const ibv_srq& srq) {
  std::unique_ptr<Queue>& queue = shared_[&srq];
  if (queue == nullptr) queue = std::make_unique<Queue>("device: a shared receive queue");
  return *queue;
}

// Memory that the device may not use is not accessed: the request fails.
Races::Ranges Races::ranges_of(const ibv_pd* pd, const ibv_sge* list, int count,
                               Access access) const {
  const unsigned right = access == Access::kRead ? 0u : unsigned{IBV_ACCESS_LOCAL_WRITE};
  Ranges ranges;
  for (const ibv_sge* each = list; each != list + count; ++each) {
    if (each->length == 0) continue;
    void* const at = core_.memory.translate(each->lkey, pd, each->addr, each->length, right);
    if (at != nullptr) ranges.push_back({at, each->length, access});
  }
  return ranges;
}

void Races::on_opened(const SoftQp& qp) {
  pairs_[qp.qp_num] = std::make_unique<Pair>(qp);
}

// --- posting ------------------------------------------------------------------------------------

// The device accesses the memory at any time from now on, so that it is in the program's way at
// once.
void Races::post(Queue& queue, std::uint64_t wr_id, bool signaled, const Ranges& ranges,
                 std::span<void* const> stack) {
  queue.work.push_back({wr_id, signaled, std::make_unique<char>()});
  queue.timeline.access(ranges, stack, queue.work.back().done.get());
}

void Races::on_posting(const SoftQp& qp, const ibv_send_wr& request, std::span<void* const> stack) {
  const bool has_memory = (request.send_flags & IBV_SEND_INLINE) == 0 &&
                          request.opcode != IBV_WR_LOCAL_INV && request.opcode != IBV_WR_BIND_MW;
  const bool signaled = qp.signal_all || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  const Ranges ranges =
      has_memory ? ranges_of(qp.pd, request.sg_list, request.num_sge, access_of(request.opcode))
                 : Ranges{};
  post(pair_of(qp).sends, request.wr_id, signaled, ranges, stack);
}

void Races::on_posting(const SoftQp& qp, const ibv_recv_wr& request, std::span<void* const> stack) {
  post(pair_of(qp).receives, request.wr_id, true,
       ranges_of(qp.pd, request.sg_list, request.num_sge, Access::kWrite), stack);
}

void Races::on_posting(const SoftSrq& srq, const ibv_recv_wr& request,
                       std::span<void* const> stack) {
  post(queue_of(srq), request.wr_id, true,
       ranges_of(srq.pd, request.sg_list, request.num_sge, Access::kWrite), stack);
}

void Races::take_back(Queue& queue) {
  if (queue.work.empty()) return;
  thread_sanitizer::acquire(queue.work.back().done.get());
  queue.work.pop_back();
}

void Races::on_refused_send(const SoftQp& qp) {
  take_back(pair_of(qp).sends);
}

void Races::on_refused_receive(const ibv_qp* qp, const ibv_srq* srq) {
  take_back(srq != nullptr ? queue_of(*srq) : pair_of(*qp).receives);
}

// --- completions --------------------------------------------------------------------------------

void Races::on_polled(const ibv_wc& completion) {
  const auto found = pairs_.find(completion.qp_num);
  const bool receive = (completion.opcode & IBV_WC_RECV) != 0;
  if (found == pairs_.end()) return;
  Pair& pair = *found->second;
  Queue& queue = !receive                  ? pair.sends
                 : pair.qp->srq != nullptr ? queue_of(*pair.qp->srq)
                                           : pair.receives;
  if (receive) thread_sanitizer::acquire(&pair.arrived);
  const bool failed = completion.status != IBV_WC_SUCCESS;
  const auto match = std::ranges::find_if(queue.work, [&](const Work& each) {
    return each.wr_id == completion.wr_id && (each.signaled || failed);
  });
  if (match == queue.work.end()) return;
  thread_sanitizer::acquire(match->done.get());
  // Sends that were not signaled have completed with this one.
  const bool in_order = !receive || pair.qp->srq == nullptr;
  queue.work.erase(in_order ? queue.work.begin() : match, match + 1);
}

void Races::on_discarded(const SoftQp& qp, bool destroyed) {
  const auto found = pairs_.find(qp.qp_num);
  if (found == pairs_.end()) return;
  Pair& pair = *found->second;
  thread_sanitizer::acquire(&pair.arrived);
  for (Queue* queue : {&pair.sends, &pair.receives}) {
    if (!queue->work.empty()) thread_sanitizer::acquire(queue->work.back().done.get());
    queue->work.clear();
  }
  if (destroyed) pairs_.erase(found);
}

void Races::on_closed(const ibv_srq& srq) {
  const auto found = shared_.find(&srq);
  if (found == shared_.end()) return;
  if (!found->second->work.empty())
    thread_sanitizer::acquire(found->second->work.back().done.get());
  shared_.erase(found);
}

// --- the peer -----------------------------------------------------------------------------------

// The calling thread has entered the critical section after whatever other threads did before their
// last call, which the peer may know of.
void Races::on_remote(const SoftQp& qp, void* at, std::size_t bytes, Access access) {
  if (bytes == 0) return;
  Pair& pair = pair_of(qp);
  const thread_sanitizer::Timeline::Range range{at, bytes, access};
  pair.peer.access({&range, 1}, {}, &pair.arrived);
}

}  // namespace anyrdma::verbs::soft
