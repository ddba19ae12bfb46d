#include "verbs/soft/ownership.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "verbs/soft/digest.h"

namespace anyrdma::verbs::soft {
namespace {

constexpr std::size_t kFramesMax = 24;
constexpr std::uint64_t kAtomicLength = 8;

BufferUse use_of(const ibv_send_wr& request, std::uint64_t length) {
  if (length == 0 || (request.send_flags & IBV_SEND_INLINE) != 0) return BufferUse::kNone;
  switch (request.opcode) {
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return BufferUse::kFills;
    case IBV_WR_LOCAL_INV:
    case IBV_WR_BIND_MW:
      return BufferUse::kNone;
    default:  // foreign enum: what sends
      return BufferUse::kReads;
  }
}

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace

// --- reports ------------------------------------------------------------------------------------

std::string Ownership::at(const Runtime::Mark& mark) const {
  const std::string text = sink_.describe(mark);
  return text.empty() ? text : " " + text;
}

void Ownership::report(std::string_view checker, bool remark, std::string text,
                       const Posting* posting) {
  OwnershipFinding finding{.checker = checker, .remark = remark, .text = std::move(text)};
  if (posting != nullptr) finding.posted = posting->stack;
  sink_.on_finding(finding);
}

std::string Ownership::story_of(const PastRegion& region) const {
  return "a region of " + bytes_text(region.length) + " that was registered" + at(region.began) +
         " and that " + std::string(region.call) + " ended" + at(region.ended);
}

// --- postings -----------------------------------------------------------------------------------

Posting& Ownership::take() {
  if (spare_.empty()) {
    postings_.push_back(std::make_unique<Posting>());
    return *postings_.back();
  }
  Posting& posting = *spare_.back();
  spare_.pop_back();
  posting.clear();
  return posting;
}

void Ownership::give_back(Posting& posting) {
  spare_.push_back(&posting);
}

void Ownership::drop_all(std::deque<Posting*>& postings) {
  for (Posting* each : postings) {
    release(*each);
    give_back(*each);
  }
  postings.clear();
}

void Ownership::drop_all(std::deque<Unpolled>& completions) {
  for (const Unpolled& each : completions) {
    if (each.filled == nullptr) continue;
    forget_filled(*each.filled);
    give_back(*each.filled);
  }
  completions.clear();
}

Posting& Ownership::begin(const ibv_pd* domain, const ibv_sge* list, int count) {
  Posting& posting = take();
  posting.domain = domain;
  posting.list.assign(list, list + count);
  posting.length = 0;
  for (const ibv_sge& piece : posting.list) posting.length += piece.length;
  posting.mark = sink_.mark();
  std::array<void*, kFramesMax> frames{};
  const std::size_t kept = sink_.capture(frames);
  posting.stack.assign(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(kept));
  return posting;
}

// Its buffers are the device's from now on.
void Ownership::claim(Posting& posting, Queue* queue) {
  if (posting.use == BufferUse::kNone) return;
  for (const ibv_sge& piece : posting.list) {
    if (piece.length == 0) continue;
    const std::uint8_t* const start =
        memory_.translate(piece.lkey, posting.domain, piece.addr, piece.length, 0);
    if (start == nullptr) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(start);
    posting.ranges.push_back({begin, begin + piece.length});
  }
  judge_overlap(posting, queue);
  PostedRanges& ranges = posting.use == BufferUse::kReads ? sources_ : targets_;
  for (const MemoryRange& range : posting.ranges) ranges.add(range, posting);
}

void Ownership::release(Posting& posting) {
  if (posting.use == BufferUse::kNone) return;
  PostedRanges& ranges = posting.use == BufferUse::kReads ? sources_ : targets_;
  for (const MemoryRange& range : posting.ranges) ranges.remove(range, posting);
}

// Two that fill the same bytes, or one that fills what another one reads.
void Ownership::judge_overlap(Posting& posting, Queue* queue) {
  const bool fills = posting.use == BufferUse::kFills;
  const Posting* other = nullptr;
  bool unpolled = false;
  for (const MemoryRange& range : posting.ranges) {
    targets_.find_overlapping(range, [&](Posting& each) {
      other = &each;
      if (!fills) return true;
      posting.overlaps = each.overlaps = true;
      return each.overlaps;
    });
    if (!fills) continue;
    sources_.find_overlapping(range, [&](const Posting& each) {
      other = &each;
      return true;
    });
    filled_.find_overlapping(range, [&](Posting& each) {
      other = &each;
      unpolled = true;
      if (!each.digest) each.digest = digest_of(memory_, each.domain, each.list, each.filled);
      return false;
    });
  }
  if (other == nullptr || (queue != nullptr && std::exchange(queue->told_of_overlap, true))) return;
  report("overlap", true,
         "the " + name_of(posting) + " uses memory that the " + name_of(*other) + ", posted" +
             at(other->mark) +
             (unpolled ? ", has filled and whose completion is not polled yet" : ", still uses") +
             ". Give each request its own buffer until its completion is polled",
         other);
}

// --- queue pairs --------------------------------------------------------------------------------

void Ownership::on_opened(const ibv_qp& qp, const ibv_qp_cap& cap) {
  Queue& queue = queues_[qp.qp_num];
  queue.account = {};
  queue.account.set_depth(cap.max_send_wr);
  queue.history = {};
  queue.told_of_overlap = queue.told_of_error_state = false;
  queue.receive_depth = qp.srq == nullptr ? cap.max_recv_wr : 0;
  bool small = completion_queues_.on_attached(qp.send_cq, cap.max_send_wr);
  const ibv_cq* cq = small ? qp.send_cq : qp.recv_cq;
  small = completion_queues_.on_attached(qp.recv_cq, queue.receive_depth) || small;
  if (!small) return;
  report("depth", true,
         "queue pair " + std::to_string(qp.qp_num) +
             " is created on a completion queue with room "
             "for " +
             std::to_string(cq->cqe) + " completions, to which up to " +
             std::to_string(completion_queues_.most(*cq)) +
             " requests can report. It overruns unless the program polls in time");
}

void Ownership::on_discarding(const ibv_qp& qp, bool destroyed) {
  const auto found = queues_.find(qp.qp_num);
  if (found == queues_.end()) return;
  Queue& queue = found->second;
  drop_all(queue.sends);
  drop_all(queue.receives);
  drop_all(queue.sent);
  drop_all(queue.received);
  const std::uint32_t depth = queue.account.depth();
  queue.account = {};
  queue.account.set_depth(depth);
  if (!destroyed) return;
  completion_queues_.on_detached(qp.send_cq, depth);
  completion_queues_.on_detached(qp.recv_cq, queue.receive_depth);
  queues_.erase(found);
}

// --- posting ------------------------------------------------------------------------------------

void Ownership::note_error_state(const ibv_qp& qp, Queue& queue) {
  if (qp.state != IBV_QPS_ERR || std::exchange(queue.told_of_error_state, true)) return;
  report("gone", true,
         "work is posted to queue pair " + std::to_string(qp.qp_num) +
             ", which is in the state ERR: its connection is gone, and the work is flushed");
}

void Ownership::on_send(const ibv_qp& qp, const ibv_send_wr& request, bool signaled) {
  Queue& queue = queues_[qp.qp_num];
  Posting& posting = begin(qp.pd, request.sg_list, request.num_sge);
  posting.wr_id = request.wr_id;
  posting.qp_num = qp.qp_num;
  posting.opcode = request.opcode;
  posting.is_receive = false;
  posting.signaled = signaled;
  posting.use = use_of(request, posting.length);
  if (posting.use == BufferUse::kFills && request.opcode != IBV_WR_RDMA_READ)
    posting.length = std::min(posting.length, kAtomicLength);
  posting.index = queue.account.on_posted(signaled);
  claim(posting, &queue);
  // What is fenced may send what a READ before it brings.
  if (posting.use == BufferUse::kReads && (request.send_flags & IBV_SEND_FENCE) == 0)
    posting.digest = digest_of(memory_, posting.domain, posting.list, posting.length);
  queue.sends.push_back(&posting);
  note_error_state(qp, queue);
  if (qp.state != IBV_QPS_ERR && queue.account.has_no_way_out(false)) report_full(qp, queue);
}

void Ownership::on_full(const ibv_qp& qp) {
  Queue& queue = queues_[qp.qp_num];
  if (queue.account.has_no_way_out(true)) report_full(qp, queue);
}

void Ownership::report_full(const ibv_qp& qp, const Queue& queue) {
  report("unsignaled", false,
         "the send queue of queue pair " + std::to_string(qp.qp_num) + " has room for " +
             std::to_string(queue.account.depth()) + " requests, and " +
             std::to_string(queue.account.since_polled()) +
             " were posted since the last completion of a request was polled, none of them "
             "signaled. A device frees no place without a completion: set IBV_SEND_SIGNALED on "
             "some, and poll");
}

void Ownership::begin_receive(Posting& posting, const ibv_recv_wr& request, Queue* queue) {
  posting.wr_id = request.wr_id;
  posting.is_receive = true;
  posting.signaled = true;
  posting.use = posting.length == 0 ? BufferUse::kNone : BufferUse::kFills;
  claim(posting, queue);
}

void Ownership::on_receive(const ibv_qp& qp, const ibv_recv_wr& request) {
  Queue& queue = queues_[qp.qp_num];
  Posting& posting = begin(qp.pd, request.sg_list, request.num_sge);
  posting.qp_num = qp.qp_num;
  begin_receive(posting, request, &queue);
  queue.receives.push_back(&posting);
  queue.history.on_posted();
  note_error_state(qp, queue);
}

void Ownership::on_receive(const ibv_srq& srq, const ibv_recv_wr& request) {
  Posting& posting = begin(srq.pd, request.sg_list, request.num_sge);
  posting.qp_num = 0;
  begin_receive(posting, request, nullptr);
  shared_[srq.handle].push_back(&posting);
}

// --- the device's work --------------------------------------------------------------------------

void Ownership::on_drawn(const ibv_srq& srq, const ibv_qp& qp) {
  std::deque<Posting*>& shared = shared_[srq.handle];
  if (shared.empty()) return;
  Queue& queue = queues_[qp.qp_num];
  queue.receives.push_back(shared.front());
  queue.history.on_posted();
  shared.pop_front();
}

void Ownership::on_send_done(const ibv_qp& qp, ibv_wc_status status, bool reported) {
  Queue& queue = queues_[qp.qp_num];
  if (queue.sends.empty()) return;
  Posting& posting = *queue.sends.front();
  queue.sends.pop_front();
  release(posting);
  if (status == IBV_WC_SUCCESS && posting.digest) judge_source(posting);
  if (status == IBV_WC_LOC_PROT_ERR) judge_memory(posting);
  if (status == IBV_WC_SUCCESS) judge_mappings(posting, posting.length);
  const bool filled = status == IBV_WC_SUCCESS && posting.use == BufferUse::kFills;
  if (filled) note_filled(posting, posting.length);
  if (reported) {
    queue.sent.push_back({posting.wr_id, posting.index, filled ? &posting : nullptr});
    forget_dropped(queue.sent, qp.send_cq, queue);
  }
  if (filled && !reported) forget_filled(posting);
  if (!filled || !reported) give_back(posting);
}

void Ownership::on_receive_done(const ibv_qp& qp, const ibv_wc& completion) {
  Queue& queue = queues_[qp.qp_num];
  if (queue.receives.empty()) return;
  Posting& posting = *queue.receives.front();
  queue.receives.pop_front();
  release(posting);
  queue.history.on_used({posting.wr_id, posting.mark, sink_.mark()});
  if (completion.status == IBV_WC_LOC_PROT_ERR) judge_memory(posting);
  const bool filled = completion.status == IBV_WC_SUCCESS && completion.byte_len != 0 &&
                      posting.use == BufferUse::kFills &&
                      completion.opcode != IBV_WC_RECV_RDMA_WITH_IMM;
  if (filled) judge_mappings(posting, completion.byte_len);
  if (filled) note_filled(posting, completion.byte_len);
  queue.received.push_back({posting.wr_id, 0, filled ? &posting : nullptr});
  forget_dropped(queue.received, qp.recv_cq, queue);
  if (!filled) give_back(posting);
}

void Ownership::on_written(const ibv_qp& qp) {
  note_answer(queues_[qp.qp_num]);
}

void Ownership::on_receives_gone(const ibv_qp& qp) {
  drop_all(queues_[qp.qp_num].receives);
}

void Ownership::on_closing(const ibv_srq& srq) {
  const auto found = shared_.find(srq.handle);
  if (found == shared_.end()) return;
  drop_all(found->second);
  shared_.erase(found);
}

void Ownership::on_not_ready(const ibv_qp& qp) {
  Queue& queue = queues_[qp.qp_num];
  if (!queue.history.on_dry()) return;
  std::string text = "queue pair " + std::to_string(qp.qp_num) +
                     " has no receive for a message of its peer, which must wait and send it "
                     "again (RNR NAK). " +
                     std::to_string(queue.history.count()) + " receives were used up";
  for (std::size_t n = 0; const auto used = queue.history.last(n); ++n) {
    text += n == 0 ? "; the last: wr_id " : ", wr_id ";
    text += std::to_string(used->wr_id) + " posted" + at(used->posted) + ", used" + at(used->used);
  }
  report("dry", true, std::move(text));
}

// --- judgement ----------------------------------------------------------------------------------

void Ownership::judge_source(const Posting& posting) {
  const auto now = digest_of(memory_, posting.domain, posting.list, posting.length);
  if (!now) return judge_memory(posting);
  if (*now == *posting.digest) return;
  report("source", false,
         "the source of the " + name_of(posting) + ", posted" + at(posting.mark) +
             ", has changed before the request was done; " +
             (posting.hit.empty() ? std::string("the program or a peer's WRITE has done that")
                                  : "the " + posting.hit + " has filled some of its bytes") +
             ". The peer may get either, or parts of both. Leave a source alone until its "
             "completion, or send inline",
         &posting);
}

// Until here the sources of its requests had to be left alone. From now on only a repetition reads
// them again, whose bytes the peer drops.
void Ownership::note_answer(Queue& queue) const {
  constexpr std::size_t kLooksMost = 8;
  std::size_t looks = 0;
  for (Posting* each : queue.sends) {
    if (!each->digest || each->use != BufferUse::kReads) continue;
    const bool look = looks++ < kLooksMost;
    if (!look || digest_of(memory_, each->domain, each->list, each->length) == each->digest)
      each->digest.reset();
  }
}

// It could not be read or written.
void Ownership::judge_memory(const Posting& posting) {
  for (const ibv_sge& piece : posting.list) {
    const PastRegion* const past = regions_.find_ended(piece.lkey);
    if (past == nullptr) continue;
    return report("region", false,
                  "the " + name_of(posting) + ", posted" + at(posting.mark) +
                      ", fails: its memory is in " + story_of(*past) +
                      ". Keep a region until all work on it has completed",
                  &posting);
  }
  for (const ibv_sge& piece : posting.list) {
    if (piece.length == 0 || memory_.is_dmabuf(piece.lkey)) continue;
    const std::uint8_t* const bytes =
        memory_.translate(piece.lkey, posting.domain, piece.addr, piece.length, 0);
    const bool there = bytes == nullptr || is_there(bytes, piece.length);
    if (there) continue;
    return report("region", false,
                  "the " + name_of(posting) + ", posted" + at(posting.mark) +
                      ", fails: its memory is not mapped any more, although its region is still "
                      "registered. Keep memory until all work on it has completed",
                  &posting);
  }
}

void Ownership::note_filled(Posting& posting, std::uint64_t bytes) {
  posting.filled = bytes;
  for (MemoryRange& range : posting.ranges) {
    const std::uint64_t part = std::min<std::uint64_t>(bytes, range.end - range.begin);
    range.end = range.begin + part;
    bytes -= part;
    if (part == 0) continue;
    const auto hit = [&](Posting& each) {
      each.hit = name_of(posting);
      return false;
    };
    sources_.find_overlapping(range, hit);
    filled_.find_overlapping(range, hit);
  }
  std::erase_if(posting.ranges, [](const MemoryRange& each) { return each.begin == each.end; });
  if (posting.overlaps)
    posting.digest = digest_of(memory_, posting.domain, posting.list, posting.filled);
  for (const MemoryRange& range : posting.ranges) filled_.add(range, posting);
}

void Ownership::forget_filled(Posting& posting) {
  for (const MemoryRange& range : posting.ranges) filled_.remove(range, posting);
}

// Its completion is polled: from now on its bytes are the program's.
void Ownership::judge_filled(Posting& posting) {
  forget_filled(posting);
  if (posting.hit.empty() || !posting.digest) return;
  const auto now = digest_of(memory_, posting.domain, posting.list, posting.filled);
  if (!now || *now == *posting.digest) return;
  // The bytes may be of no interest: some messages only give credits, some READs only make WRITEs
  // visible.
  report("target", true,
         "the " + bytes_text(posting.filled) + " that the " + name_of(posting) + ", posted" +
             at(posting.mark) + ", has brought are lost: the " + posting.hit +
             " has filled the same memory before this completion was polled. Give each request "
             "its own buffer until its completion is polled",
         &posting);
}

// --- completions --------------------------------------------------------------------------------

// Some may have been dropped by a queue that overwrites.
void Ownership::poll(std::deque<Unpolled>& queue, std::uint64_t wr_id, Queue& owner) {
  const bool known =
      std::ranges::any_of(queue, [wr_id](const Unpolled& each) { return each.wr_id == wr_id; });
  while (known) {
    const Unpolled polled = queue.front();
    queue.pop_front();
    owner.account.on_polled(polled.index);
    if (polled.filled != nullptr) {
      judge_filled(*polled.filled);
      give_back(*polled.filled);
    }
    if (polled.wr_id == wr_id) return;
  }
}

void Ownership::forget_dropped(std::deque<Unpolled>& queue, const ibv_cq* cq, Queue& owner) {
  while (cq != nullptr && queue.size() > static_cast<std::size_t>(cq->cqe)) {
    const Unpolled dropped = queue.front();
    queue.pop_front();
    owner.account.on_polled(dropped.index);
    if (dropped.filled == nullptr) continue;
    forget_filled(*dropped.filled);
    give_back(*dropped.filled);
  }
}

void Ownership::on_polled(const ibv_wc& completion) {
  const auto found = queues_.find(completion.qp_num);
  if (found == queues_.end()) return;
  const bool received = (completion.opcode & IBV_WC_RECV) != 0;
  if (received && completion.status == IBV_WC_SUCCESS) note_answer(found->second);
  poll(received ? found->second.received : found->second.sent, completion.wr_id, found->second);
}

void Ownership::on_overrun(const ibv_cq& cq, std::uint64_t number) {
  report("overrun", false,
         "completion queue " + std::to_string(number) + " is full with " + std::to_string(cq.cqe) +
             " completions, and another one is lost. Up to " +
             std::to_string(completion_queues_.most(cq)) +
             " requests can report to it: create it larger, or poll in time");
}

// --- regions ------------------------------------------------------------------------------------

Ownership::~Ownership() {
  regions_.for_each_live([this](LiveRegion& region) {
    if (region.watched) sink_.forget_memory(region.lost);
  });
}

// A region that is paged on demand follows the mappings, as the program expects.
void Ownership::on_region(const ibv_mr& region) {
  LiveRegion& live = regions_.on_opened(region.lkey, region.length, sink_.mark());
  const SoftMr* const known = memory_.find_region(region.lkey);
  const bool pinned = known != nullptr && (known->granted & IBV_ACCESS_ON_DEMAND) == 0;
  if (pinned == live.watched || region.length == 0) return;
  live.watched = pinned;
  const auto begin = reinterpret_cast<std::uintptr_t>(region.addr);
  if (pinned) {
    sink_.watch_memory(live.lost, begin, begin + region.length);
  } else {
    sink_.forget_memory(live.lost);
  }
}

void Ownership::on_region_ending(const ibv_mr& region, std::string_view call) {
  const auto uses = [&](const Posting* posting) {
    return posting->use != BufferUse::kNone &&
           std::ranges::any_of(posting->list,
                               [&](const ibv_sge& each) { return each.lkey == region.lkey; });
  };
  const Posting* send = nullptr;
  const Posting* receive = nullptr;
  const auto look = [&](const std::deque<Posting*>& postings, const Posting*& found) {
    const auto at = std::ranges::find_if(postings, uses);
    if (found == nullptr && at != postings.end()) found = *at;
  };
  for (const auto& [number, queue] : queues_) {
    look(queue.sends, send);
    look(queue.receives, receive);
  }
  for (const auto& [handle, postings] : shared_) look(postings, receive);
  LiveRegion* const live = regions_.find_live(region.lkey);
  if (live != nullptr && live->watched) sink_.forget_memory(live->lost);
  regions_.on_ended(region.lkey, call, sink_.mark());
  const Posting* const found = send != nullptr ? send : receive;
  if (found == nullptr) return;
  report("region", send == nullptr,
         std::string(call) + " ends a region that the " + name_of(*found) + ", posted" +
             at(found->mark) + ", still uses" + at(sink_.mark()) +
             ". Keep a region until all work on it has completed",
         found);
}

void Ownership::on_refused(const ibv_qp& qp, std::uint32_t key, std::uint64_t length,
                           std::string_view what) {
  const PastRegion* const past = regions_.find_ended(key);
  if (past == nullptr) return;
  report("region", false,
         "the peer of queue pair " + std::to_string(qp.qp_num) + " asks for a " +
             std::string(what) + " of " + bytes_text(length) + " with the key of " +
             story_of(*past) + ". It must learn that the key is over before the region ends");
}

}  // namespace anyrdma::verbs::soft
