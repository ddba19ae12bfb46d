// How the software HCA uses NearMemory: what it publishes, and which work needs no packets.
#include <array>
#include <utility>

#include "verbs/soft/completion_queue.h"
#include "verbs/soft/near_memory.h"
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/scatter_gather.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

namespace {

constexpr unsigned kRemote =
    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::size_t kPiecesMax = 32;

/// Those alive have different ones. It leaves the process as a name only.
std::uint64_t name_of(const ibv_pd* pd) {
  return reinterpret_cast<std::uintptr_t>(pd);
}

}  // namespace

// --- what others may do here --------------------------------------------------------------------

void SoftQp::publish() {
  if (core.near_memory == nullptr || qp_type != IBV_QPT_RC) return;
  // A peer that reaches our memory without packets is not counted.
  const bool counts_remote = counters != nullptr && counters->counts_remote();
  const bool responds = state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD;
  core.near_memory->set_end({.number = qp_num,
                             .peer = attr.dest_qp_num,
                             .source = path.source,
                             .destination = path.destination,
                             .mtu = mtu(),
                             .first_sent = attr.sq_psn,
                             .first_expected = attr.rq_psn,
                             .access = attr.qp_access_flags,
                             .domain = name_of(pd),
                             .asks = state == IBV_QPS_RTS,
                             .answers = responds && established && !counts_remote,
                             .reads = attr.max_dest_rd_atomic != 0});
}

void SoftQp::unpublish() {
  if (core.near_memory != nullptr && qp_type == IBV_QPT_RC) core.near_memory->forget_end(qp_num);
}

void publish(Core& core, SoftMr& region) {
  if (core.near_memory == nullptr || (region.granted & kRemote) == 0 || region.length == 0) return;
  region.published = region.rkey;
  core.near_memory->add_region({.key = region.rkey,
                                .access = region.granted,
                                .domain = name_of(region.pd),
                                .iova = region.iova,
                                .length = region.length,
                                .address = reinterpret_cast<std::uintptr_t>(region.addr)});
}

void unpublish(Core& core, SoftMr& region) {
  if (core.near_memory == nullptr || region.published == 0) return;
  core.near_memory->forget_region(std::exchange(region.published, 0u));
}

void SoftHca::set_memory_guard(MemoryTable::Guard guard) {
  CriticalSection section(core_.runtime);
  core_.memory.set_guard(guard);
}

void SoftHca::set_near_memory(NearMemory* near) {
  CriticalSection section(core_.runtime);
  core_.near_memory = near;
}

// --- what may be done there ---------------------------------------------------------------------

/// Whether the application posts without looking for what has become of it. Many messages are done
/// sooner by packets, for the peer works on some while we write others: small ones, and large ones
/// where the peer polls. One that sleeps would have to be woken again and again.
bool Requester::is_one_of_many() {
  const std::uint32_t polls = static_cast<const SoftCq*>(qp_.send_cq)->polls;
  return std::exchange(polls_seen_, polls) == polls;
}

bool Requester::run_near(SendWork& work) {
  // In the order of posting: whatever is under way in packets ends first.
  if (next_ != queue_.head() || qp_.state != IBV_QPS_RTS) return false;
  if (!ask_near(work)) return false;
  ++core_.counters.near_operations;
  ++started_;
  ++next_;
  complete_front(IBV_WC_SUCCESS);
  if (!queue_.empty() && queue_.front().status != IBV_WC_SUCCESS) fail(queue_.front().status);
  return true;
}

bool Requester::ask_near(SendWork& work) {
  NearMemory& near = *core_.near_memory;
  const bool is_write = work.kind == WorkKind::kWrite && !work.with_immediate;
  if (!is_write && work.kind != WorkKind::kRead) return false;
  const bool is_small_write = is_write && work.length <= qp_.mtu();
  if (is_one_of_many() && (is_small_write || near.is_awake(qp_.qp_num))) return false;
  std::array<NearMemory::Piece, kPiecesMax> pieces;
  std::size_t count = 0;
  if (work.inline_data) {
    if (work.length > 0) pieces[count++] = {work.data(), work.length};
  } else {
    if (work.sge_count > kPiecesMax) return false;
    for (const ibv_sge& piece : std::span(work.list(), work.sge_count)) {
      if (piece.length == 0) continue;
      std::uint8_t* at = core_.memory.translate(piece.lkey, qp_.pd, piece.addr, piece.length, 0);
      if (at == nullptr) return false;
      pieces[count++] = {at, piece.length};
    }
  }
  const std::span<const NearMemory::Piece> list(pieces.data(), count);
  return is_write ? near.write(qp_.qp_num, work.remote_key, work.remote_address, list)
                  : near.read(qp_.qp_num, work.remote_key, work.remote_address, list);
}

}  // namespace anyrdma::verbs::soft
