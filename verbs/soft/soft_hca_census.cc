// What the device holds, counted for checkers.
#include <algorithm>
#include <iterator>
#include <numeric>

#include "verbs/assert.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

void SoftHca::set_observer(HcaObserver* observer) {
  CM_ASSERT(live_queue_pairs_ == 0);  // nobody is in the middle of what is exchanged here
  core_.observer = observer;
  if (observer != nullptr) observer->on_device(*this);
  for (SoftContext* context : contexts_) context->choose_operations();
}

void SoftHca::set_ownership_sink(OwnershipSink* sink) {
  CM_ASSERT(live_queue_pairs_ == 0);
  ownership_ = sink == nullptr ? nullptr : std::make_unique<Ownership>(core_.memory, *sink);
  core_.ownership = ownership_.get();
}

Census SoftHca::census() const {
  const auto count = [](const auto& list) {
    return static_cast<std::size_t>(std::distance(list.begin(), list.end()));
  };
  return {.queue_pairs = live_queue_pairs_,
          .completion_queues = count(live_completion_queues_),
          .completion_channels = count(live_channels_),
          .memory_regions = core_.memory.size(),
          .memory_windows = core_.memory.windows(),
          .device_memories = core_.memory.device_memories(),
          .protection_domains = count(live_domains_),
          .address_handles = count(live_address_handles_),
          .shared_receive_queues = count(live_shared_receive_queues_),
          .extended_domains = count(live_xrc_domains_),
          .thread_domains = count(live_thread_domains_),
          .opened_queue_pairs = names_.size(),
          .timers = core_.timers.size(),
          .queue_timers = std::accumulate(
              live_completion_queues_.begin(), live_completion_queues_.end(), std::size_t{0},
              [](std::size_t sum, const SoftCq& cq) { return sum + cq.timers(); })};
}

QpCensus SoftHca::census_of(const ibv_qp& qp) const {
  const auto& soft = static_cast<const SoftQp&>(qp);
  QpCensus census;
  census.state = soft.state;
  census.type = soft.qp_type;
  census.attr = soft.attr;
  if (soft.attr.ah_attr.is_global != 0) census.gid = soft.path.source;
  census.sends = soft.datagrams ? soft.datagrams->size() : soft.requester.size();
  census.signaled_sends = soft.datagrams ? soft.datagrams->signaled() : soft.requester.signaled();
  census.receives = soft.receives.size();
  const auto* send_queue = static_cast<const SoftCq*>(soft.send_cq);
  const auto* receive_queue = static_cast<const SoftCq*>(soft.recv_cq);
  if (send_queue != nullptr) {
    census.sent = send_queue->waiting(soft.qp_num, false);
    census.overrun = send_queue->is_overrun() || send_queue->has_dropped();
  }
  if (receive_queue != nullptr) {
    census.received = receive_queue->waiting(soft.qp_num, true);
    census.overrun = census.overrun || receive_queue->is_overrun() || receive_queue->has_dropped();
  }
  census.timers = soft.requester.timers();
  return census;
}

SrqCensus SoftHca::census_of(const ibv_srq& srq) const {
  const auto& soft = static_cast<const SoftSrq&>(srq);
  return {.receives = soft.size(), .completions = soft.completions(), .number = soft.number()};
}

bool SoftHca::has_dropped(const ibv_cq& cq) const {
  return static_cast<const SoftCq&>(cq).has_dropped();
}

std::vector<const ibv_qp*> SoftHca::queue_pairs() const {
  std::vector<const ibv_qp*> open;
  for (const SoftQp* qp : numbers_) {
    if (qp != nullptr) open.push_back(qp);
  }
  return open;
}

std::optional<std::uint64_t> SoftHca::digest(const ibv_pd* pd, std::span<const ibv_sge> list,
                                             std::uint64_t length) const {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;  // FNV-1a
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kBasis;
  for (const ibv_sge& piece : list) {
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(length, piece.length));
    if (part == 0) continue;
    const std::uint8_t* bytes =
        core_.memory.translate(piece.lkey, pd, piece.addr, part, kLocalRead);
    if (bytes == nullptr) return std::nullopt;
    const bool is_there = core_.memory.touch([&] {
      for (std::uint32_t i = 0; i < part; ++i) hash = (hash ^ bytes[i]) * kPrime;
    });
    if (!is_there) return std::nullopt;  // the program has unmapped it
    length -= part;
  }
  if (length != 0) return std::nullopt;
  return hash;
}

}  // namespace anyrdma::verbs::soft
