#include "check/device.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace anyrdma::check {
namespace {

using recording::Entry;
using recording::EntryKind;

EndKey key_of(const ibv_gid& gid, std::uint32_t qp) {
  EndKey key{.gid = {}, .qp = qp};
  std::ranges::copy(gid.raw, key.gid.begin());
  return key;
}

bool has_gid(const QpCensus& census) {
  return std::ranges::any_of(census.gid.raw, [](std::uint8_t byte) { return byte != 0; });
}

bool is_send(std::string_view operation) {
  return operation.starts_with("SEND");
}

bool is_atomic(std::string_view operation) {
  return operation == "ATOMIC_CMP_AND_SWP" || operation == "ATOMIC_FETCH_AND_ADD";
}

Stream to_queue(Stream stream, std::uint64_t number) {
  stream.to_queue = number;
  return stream;
}

/// Of entries, whose numbers anybody may have written.
std::uint32_t number32(std::uint64_t number) {
  return static_cast<std::uint32_t>(number);
}

ibv_qp_state state_named(std::string_view name) {
  constexpr std::pair<std::string_view, ibv_qp_state> kStates[] = {
      {"INIT", IBV_QPS_INIT}, {"RTR", IBV_QPS_RTR}, {"RTS", IBV_QPS_RTS},
      {"SQD", IBV_QPS_SQD},   {"SQE", IBV_QPS_SQE}, {"ERR", IBV_QPS_ERR}};
  const auto* const found =
      std::ranges::find(kStates, name, &std::pair<std::string_view, ibv_qp_state>::first);
  return found == std::end(kStates) ? IBV_QPS_RESET : found->second;
}

}  // namespace

Device::Device(Violations& violations, const Shared& shared, std::string name, std::string owner,
               bool of_process)
    : name_(std::move(name)),
      owner_(std::move(owner)),
      of_process_(of_process),
      between_(shared),
      work_(violations, name_),
      announcements_(violations, name_),
      leaks_(violations) {
  if (of_process_) work_.set_late();
}

bool Device::has(std::uint32_t qp) const {
  return pairs_.contains(qp);
}

const QpCensus& Device::census_of(std::uint32_t qp) const {
  return pairs_.at(qp).census;
}

Device::Pair* Device::find(std::uint64_t qp) {
  const auto found = pairs_.find(number32(qp));
  return found == pairs_.end() ? nullptr : &found->second;
}

void Device::note_thread(std::uint64_t thread) {
  if (of_process_ && threads_.insert(thread).second && threads_.size() > 1) work_.set_unordered();
}

void Device::on_entry(const Entry& entry, std::uint64_t thread) {
  const auto& n = entry.numbers;
  switch (entry.kind) {
    case EntryKind::kOpened:
      return on_opened(entry);
    case EntryKind::kPath:
      return on_path(entry);
    case EntryKind::kQueuePairState:
      return on_state(entry);
    case EntryKind::kPosted:
      note_thread(thread);
      return on_posted(entry);
    case EntryKind::kCompleted:
      note_thread(thread);
      return on_completed(entry);
    case EntryKind::kHeld:
      return on_held(entry);
    case EntryKind::kSharedQueue:
      return on_queue(entry);
    case EntryKind::kAtomic:
      return on_atomic(entry);
    case EntryKind::kKey:
      if (n[2] != 0) return between_.keys.on_opened(name_, number32(n[1]));
      return between_.keys.on_closed(name_, number32(n[1]));
    case EntryKind::kAsync:
      if (n[1] == IBV_EVENT_QP_LAST_WQE_REACHED) announcements_.on_last_receive(number32(n[2]));
      return;
    case EntryKind::kTimers:
      return leaks_.on_timers(name_, n[1], n[2]);
    case EntryKind::kLeft:
      return leaks_.on_left(name_, n[1], entry.texts[0]);
    default:  // of ids, or of no device
      return;
  }
}

// --- queue pairs --------------------------------------------------------------------------------

void Device::on_opened(const Entry& entry) {
  const std::uint32_t qp = number32(entry.numbers[1]);
  Pair& pair = pairs_[qp];
  pair = {};
  pair.type = static_cast<ibv_qp_type>(entry.numbers[2]);
  pair.srq = entry.numbers[3];
  const auto shared = pair.srq == 0 ? Work::Receives::kOwn : Work::Receives::kShared;
  work_.on_opened(qp, pair.type == IBV_QPT_XRC_RECV ? Work::Receives::kNamed : shared, pair.srq);
  announcements_.on_fresh(qp);
  between_.afterlife.forget(name_, qp);
}

void Device::on_path(const Entry& entry) {
  const auto& n = entry.numbers;
  Pair* const pair = find(n[1]);
  const std::string_view gids = entry.texts[0];
  if (pair == nullptr || gids.size() != 2 * sizeof(ibv_gid)) return;
  QpCensus& census = pair->census;
  census.attr.dest_qp_num = number32(n[2]);
  census.attr.rq_psn = number32(n[3]);
  census.attr.sq_psn = number32(n[4]);
  census.attr.path_mtu = static_cast<ibv_mtu>(n[5]);
  std::memcpy(census.gid.raw, gids.data(), sizeof(ibv_gid));
  std::memcpy(census.attr.ah_attr.grh.dgid.raw, gids.data() + sizeof(ibv_gid), sizeof(ibv_gid));
  if (!has_gid(census)) return;
  const EndKey own = key_of(census.gid, number32(n[1]));
  between_.ends[own] = name_;
  between_.retried.on_end_point(own, owner_);
}

void Device::on_state(const Entry& entry) {
  Pair* const pair = find(entry.numbers[1]);
  if (pair == nullptr) return;
  if (entry.texts[0] == "destroyed") {
    between_.ends.erase(key_of(pair->census.gid, number32(entry.numbers[1])));
    between_.retried.on_end_gone(key_of(pair->census.gid, number32(entry.numbers[1])));
    between_.afterlife.forget(name_, number32(entry.numbers[1]));
    pairs_.erase(number32(entry.numbers[1]));
    return;
  }
  QpCensus& census = pair->census;
  census.state = state_named(entry.texts[0]);
  // Without GIDs, queue pairs of several hosts have the same name: their messages are not judged.
  const bool connected = pair->type != IBV_QPT_UD && has_gid(census);
  if (!connected || (census.state != IBV_QPS_RTR && census.state != IBV_QPS_RTS)) return;
  const ibv_qp_attr& attr = census.attr;
  const EndKey peer = key_of(attr.ah_attr.grh.dgid, attr.dest_qp_num);
  const EndKey own = key_of(census.gid, number32(entry.numbers[1]));
  if (!pair->in) pair->in = Stream{.from = peer, .to = own, .psn = attr.rq_psn};
  if (census.state != IBV_QPS_RTS || pair->out) return;  // its first PSN is not known yet
  pair->out = Stream{.from = own, .to = peer, .psn = attr.sq_psn};
  between_.retried.on_begin(*pair->out);
}

std::string Device::device_of_peer(const Pair& pair) const {
  const ibv_qp_attr& attr = pair.census.attr;
  const auto found = between_.ends.find(key_of(attr.ah_attr.grh.dgid, attr.dest_qp_num));
  return found == between_.ends.end() ? std::string() : found->second;
}

bool Device::is_peer_observed(const Pair& pair) const {
  if (!between_.whole_hosts) return !device_of_peer(pair).empty();
  const EndKey any = key_of(pair.census.attr.ah_attr.grh.dgid, 0);
  const auto first = between_.ends.lower_bound(any);
  return first != between_.ends.end() && first->first.gid == any.gid;
}

// --- work ---------------------------------------------------------------------------------------

void Device::on_posted(const Entry& entry) {
  const auto& n = entry.numbers;
  const std::string_view operation = entry.texts[0];
  const std::uint32_t qp = number32(n[1]);
  if (operation == "SRQ_RECV") {
    work_.on_shared_receive(n[5], n[2]);
    return announcements_.on_posted(n[5]);
  }
  if (operation == "RECV") return work_.on_receive(qp, n[2]);
  work_.on_send(qp, n[2], (n[4] & recording::kSignaled) != 0);
  Pair* const pair = find(qp);
  if (pair == nullptr || pair->type == IBV_QPT_UD) return;
  if (pair->type != IBV_QPT_UC) note_access(*pair, entry);
  if (!is_send(operation) || !pair->out) return;
  Payload::Message message{.length = n[3], .digest = {}};
  if ((n[4] & recording::kHasDigest) != 0) message.digest = n[7];
  const bool extended = pair->type == IBV_QPT_XRC_SEND;
  between_.payload.on_sent(extended ? to_queue(*pair->out, n[5]) : *pair->out, message);
}

void Device::note_access(Pair& pair, const Entry& entry) {
  const auto& n = entry.numbers;
  const std::string_view operation = entry.texts[0];
  Access access{.wr_id = n[2], .signaled = (n[4] & recording::kSignaled) != 0};
  if (operation == "LOCAL_INV") {
    access.ended_key = number32(n[6]);
  } else if (operation == "BIND_MW") {
    access.bound_key = number32(n[6]);
    between_.keys.on_opened(name_, access.bound_key);
  } else {
    access.remote_key = number32(n[6]);
    access.remote = device_of_peer(pair);
    if (access.remote_key != 0 && !access.remote.empty())
      access.closing = between_.keys.closing_of(access.remote, access.remote_key);
  }
  access.retried = note_retried(pair, entry);
  pair.accesses.push_back(std::move(access));
}

Retried::Handle Device::note_retried(const Pair& pair, const Entry& entry) {
  const auto& n = entry.numbers;
  const std::string_view operation = entry.texts[0];
  const bool atomic = is_atomic(operation);
  const bool message = is_send(operation) || operation == "RDMA_WRITE_WITH_IMM";
  if (pair.type != IBV_QPT_RC || !pair.out || !(atomic || message)) return nullptr;
  return between_.retried.on_posted(
      *pair.out, atomic ? Retried::Effect::kAtomic : Retried::Effect::kMessage,
      {.operation = std::string(operation), .wr_id = n[2], .length = n[3], .digest = n[7]},
      {.device = name_, .qp = number32(n[1]), .at = entry.time},
      (n[4] & recording::kHasDigest) != 0);
}

// Nobody hears what has become of them.
void Device::drop_accesses(Pair& pair) {
  for (const Access& each : pair.accesses) between_.retried.on_unknown(each.retried);
  pair.accesses = {};
}

void Device::on_completed(const Entry& entry) {
  const auto& n = entry.numbers;
  const std::uint64_t flags = n[6];
  const bool receive = (flags & recording::kOfReceive) != 0;
  const bool dropped = (flags & recording::kDropped) != 0;
  ibv_wc completion{};
  completion.qp_num = number32(n[1]);
  completion.wr_id = n[2];
  completion.status = static_cast<ibv_wc_status>(n[4]);
  completion.opcode = receive ? IBV_WC_RECV : IBV_WC_SEND;
  work_.on_polled(completion, dropped);
  Pair* const pair = find(n[1]);
  if (pair == nullptr) return;
  if (receive) return on_received(*pair, entry);
  on_sent(*pair, completion.qp_num, completion, dropped);
}

void Device::on_received(Pair& pair, const Entry& entry) {
  const auto& n = entry.numbers;
  const std::uint64_t flags = n[6];
  if (pair.type == IBV_QPT_XRC_RECV && n[7] == 0) {
    lost_track_ = true;  // from now on nothing says what belongs to which queue
    return;
  }
  if (pair.type == IBV_QPT_UD || n[4] != IBV_WC_SUCCESS) return;
  if (pair.in && (flags & recording::kDropped) != 0) between_.retried.on_lost_track(*pair.in);
  if (pair.in) between_.retried.on_executed(*pair.in, Retried::Effect::kMessage);
  const std::uint32_t key = number32(n[8]);
  if ((flags & recording::kInvalidates) != 0 && !is_bound(key)) between_.keys.on_closed(name_, key);
  const bool judged = n[3] == IBV_WC_RECV && (flags & recording::kDropped) == 0;
  if (!judged || !pair.in || !is_peer_observed(pair)) return;
  Payload::Message message{.length = n[5], .digest = {}};
  if ((flags & recording::kHasDigest) != 0) message.digest = n[9];
  if (pair.type == IBV_QPT_UC) return between_.payload.on_received_of_some(*pair.in, message);
  if (pair.type == IBV_QPT_RC) return between_.payload.on_received(*pair.in, message);
  if (!lost_track_) between_.payload.on_received(to_queue(*pair.in, n[7]), message);
}

void Device::on_sent(Pair& pair, std::uint32_t qp, const ibv_wc& completion, bool dropped) {
  const bool failed = completion.status != IBV_WC_SUCCESS;
  auto& queue = pair.accesses;
  const auto match = std::find_if(queue.begin(), queue.end(), [&](const Access& each) {
    return each.wr_id == completion.wr_id && (each.signaled || failed);
  });
  if (match == queue.end()) return;
  const bool others_known = !failed && !dropped;  // they succeeded in silence
  auto left = match - queue.begin();
  while (true) {
    const Access access = std::move(queue.front());
    const bool last = left-- == 0;
    queue.pop_front();
    if (last && failed)
      between_.retried.on_unknown(access.retried);
    else
      between_.retried.on_success(access.retried);
    if (last ? !failed : others_known) on_success(qp, access);
    if (last) return;
  }
}

bool Device::is_bound(std::uint32_t key) const {
  return std::ranges::any_of(pairs_, [key](const auto& entry) {
    return std::ranges::any_of(entry.second.accesses,
                               [key](const Access& each) { return each.bound_key == key; });
  });
}

void Device::on_success(std::uint32_t qp, const Access& access) {
  if (access.bound_key != 0) between_.keys.on_opened(name_, access.bound_key);
  if (access.ended_key != 0 && !is_bound(access.ended_key))
    between_.keys.on_closed(name_, access.ended_key);
  if (access.closing == 0) return;
  between_.keys.on_success(name_ + " QP " + std::to_string(qp), access.remote, access.remote_key,
                           access.closing);
}

// --- counts -------------------------------------------------------------------------------------

void Device::on_held(const Entry& entry) {
  const auto& n = entry.numbers;
  Pair* const pair = find(n[1]);
  if (pair == nullptr) return;
  const std::uint32_t qp = number32(n[1]);
  QpCensus census = pair->census;
  census.sends = n[3];
  census.signaled_sends = n[4];
  census.receives = n[5];
  census.sent = n[6];
  census.received = n[7];
  census.overrun = n[8] != 0;
  census.timers = n[9];
  const auto when = static_cast<recording::Held>(n[2]);
  if (when == recording::Held::kAtRest) {
    work_.audit(qp, census);
    announcements_.audit(qp, pair->srq, census);
    return leaks_.on_timers(name_, qp, census);
  }
  const bool destroyed = when == recording::Held::kDestroyed;
  work_.on_discarding(qp, census, destroyed);
  if (destroyed) announcements_.audit(qp, pair->srq, census);
  if (pair->in) {
    between_.payload.on_end(*pair->in);
    between_.atomics.on_end(*pair->in);
    between_.retried.on_responder_gone(*pair->in);
  }
  drop_accesses(*pair);
  if (pair->out) {
    between_.atomics.on_end(*pair->out);
    between_.retried.on_requester_gone(*pair->out);
  }
  announcements_.on_fresh(qp);
  if (!destroyed) between_.ends.erase(key_of(pair->census.gid, qp));
  *pair = {.type = pair->type, .srq = pair->srq, .census = {.gid = pair->census.gid}};
}

void Device::on_queue(const Entry& entry) {
  const auto& n = entry.numbers;
  const std::uint64_t queue = n[1];
  const SrqCensus census{.receives = n[3]};
  switch (static_cast<recording::QueueStep>(n[2])) {
    case recording::QueueStep::kHolds:
      work_.audit_queue(queue, census);
      return announcements_.audit_queue(queue, census);
    case recording::QueueStep::kLimitSet:
      return announcements_.on_limit_set(queue, number32(n[4]), census);
    case recording::QueueStep::kLimitReached:
      return announcements_.on_limit_reached(queue, census);
    case recording::QueueStep::kDestroyed:
      work_.on_closing(queue, census);
      announcements_.audit_queue(queue, census);
      return announcements_.on_closing(queue);
  }
}

void Device::on_atomic(const Entry& entry) {
  const auto& n = entry.numbers;
  const Pair* const pair = find(n[1]);
  if (pair == nullptr) return;
  const bool executed = n[4] != 0;
  const std::optional<Stream>& stream = executed ? pair->in : pair->out;
  if (!stream) return;
  if (executed) between_.retried.on_executed(*stream, Retried::Effect::kAtomic);
  if (executed) return between_.atomics.on_done(*stream, number32(n[2]), n[3]);
  between_.atomics.on_answer(*stream, number32(n[2]), n[3]);
}

void Device::on_gone() {
  for (const auto& [qp, pair] : pairs_)
    if (pair.out) between_.payload.on_sender_gone(*pair.out);
}

void Device::on_rest() {
  for (const auto& [qp, pair] : pairs_) {
    if (pair.census.state == IBV_QPS_RTS && pair.type == IBV_QPT_RC)
      between_.afterlife.on_ready_to_send(name_, qp);
  }
}

}  // namespace anyrdma::check
