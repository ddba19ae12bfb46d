// Whose buffer is it: judges what a program does with memory, keys and queues while the device has
// work on them. docs/checkers.md lists the findings.
//
// All of it is seen inside the device, at the moment when a request is posted, is done, or its
// completion is polled. So it holds for every service, for every way of posting, and for requests
// without a completion.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/runtime.h"
#include "verbs/soft/memory_table.h"
#include "verbs/soft/ownership/finding.h"
#include "verbs/soft/ownership/posting.h"
#include "verbs/soft/ownership/queue_account.h"
#include "verbs/soft/ownership/region_history.h"

namespace anyrdma::verbs::soft {

/// Of one device. Used inside the critical section. Its memory is bounded by the depths of queues.
class Ownership {
 public:
  /// Both outlive it.
  Ownership(const MemoryTable& memory, OwnershipSink& sink) : memory_(memory), sink_(sink) {}
  ~Ownership();
  Ownership(const Ownership&) = delete;
  Ownership& operator=(const Ownership&) = delete;

  // --- queue pairs ------------------------------------------------------------------------------
  void on_opened(const ibv_qp& qp, const ibv_qp_cap& cap);
  /// All its work and its completions are dropped: RESET, or it is destroyed.
  void on_discarding(const ibv_qp& qp, bool destroyed);

  // --- posting: the request was taken, and is not begun -----------------------------------------
  void on_send(const ibv_qp& qp, const ibv_send_wr& request, bool signaled);
  /// There was no room for a request.
  void on_full(const ibv_qp& qp);
  void on_receive(const ibv_qp& qp, const ibv_recv_wr& request);
  void on_receive(const ibv_srq& srq, const ibv_recv_wr& request);

  // --- the device's work ------------------------------------------------------------------------
  /// The front of a shared receive queue is the queue pair's now.
  void on_drawn(const ibv_srq& srq, const ibv_qp& qp);
  /// The queue pair's oldest request is done. `reported`: by a completion.
  void on_send_done(const ibv_qp& qp, ibv_wc_status status, bool reported);
  /// So is its oldest receive.
  void on_receive_done(const ibv_qp& qp, const ibv_wc& completion);
  /// A WRITE of the peer has arrived as a whole.
  void on_written(const ibv_qp& qp);
  /// A message of the peer found no receive.
  void on_not_ready(const ibv_qp& qp);
  /// The receives that it has drawn are gone with their shared receive queue.
  void on_receives_gone(const ibv_qp& qp);
  void on_closing(const ibv_srq& srq);

  // --- completion queues; `number`: the n-th of its host ----------------------------------------
  void on_polled(const ibv_wc& completion);
  void on_overrun(const ibv_cq& cq, std::uint64_t number);
  void on_closing(const ibv_cq& cq) { completion_queues_.on_closing(cq); }

  // --- regions ----------------------------------------------------------------------------------
  void on_region(const ibv_mr& region);
  /// Its key is about to end. `call` lives for ever.
  void on_region_ending(const ibv_mr& region, std::string_view call);
  /// The peer asked for `length` bytes of a key, and must not. `what`: "WRITE".
  void on_refused(const ibv_qp& qp, std::uint32_t key, std::uint64_t length, std::string_view what);
  /// The peer may use `length` bytes of a key, which are at `bytes`. Reports them if the program
  /// has mapped them anew since their region was registered. `what`: "WRITE".
  void on_peer_use(const ibv_qp& qp, std::uint32_t key, const void* bytes, std::uint64_t length,
                   std::string_view what);
  /// The peer asked for `length` bytes of a key that is valid, but the memory of its region is not
  /// mapped.
  void on_unmapped(const ibv_qp& qp, std::uint32_t key, std::uint64_t length,
                   std::string_view what);

 private:
  /// A completion that the program has not polled yet.
  struct Unpolled {
    std::uint64_t wr_id = 0;
    std::size_t index = 0;      ///< see Posting
    Posting* filled = nullptr;  ///< whose bytes are the program's when it polls; null: none
  };
  struct Queue {
    std::deque<Posting*> sends;     ///< the device's, in order
    std::deque<Posting*> receives;  ///< likewise; of a shared receive queue the drawn one
    std::deque<Unpolled> sent;
    std::deque<Unpolled> received;
    SendAccount account;
    ReceiveAccount history;
    std::uint32_t receive_depth = 0;
    bool told_of_overlap = false;
    bool told_of_error_state = false;
  };

  [[nodiscard]] Posting& take();
  void give_back(Posting& posting);
  void drop_all(std::deque<Posting*>& postings);
  void drop_all(std::deque<Unpolled>& completions);
  [[nodiscard]] Posting& begin(const ibv_pd* domain, const ibv_sge* list, int count);
  void begin_receive(Posting& posting, const ibv_recv_wr& request, Queue* queue);
  void claim(Posting& posting, Queue* queue);
  void release(Posting& posting);
  void judge_overlap(Posting& posting, Queue* queue);
  void judge_source(const Posting& posting);
  /// The peer may have answered what was sent: then the program knows that it has arrived.
  void note_answer(Queue& queue) const;
  void judge_memory(const Posting& posting);
  /// The device has used the first `bytes` of it: are they what the region was registered with?
  void judge_mappings(const Posting& posting, std::uint64_t bytes);
  /// Where the program has lost memory of a region, which it was not told yet; null: nowhere.
  [[nodiscard]] LiveRegion* find_lossy(std::uint32_t key);
  /// The part of [begin, begin + length) that was mapped anew, and can be accessed. Null: none.
  [[nodiscard]] const LostMemory::Part* find_anew(const LiveRegion& region,
                                                  const std::uint8_t* begin,
                                                  std::uint64_t length) const;
  [[nodiscard]] bool is_there(const std::uint8_t* bytes, std::uint64_t length) const;
  [[nodiscard]] std::string story_of(const LostMemory::Part& part) const;
  /// The device has filled it. Marks the other postings that have some of these bytes.
  void note_filled(Posting& posting, std::uint64_t bytes);
  void judge_filled(Posting& posting);
  void poll(std::deque<Unpolled>& queue, std::uint64_t wr_id, Queue& owner);
  void forget_filled(Posting& posting);
  /// Completions that their queue cannot hold were dropped: it overwrites.
  void forget_dropped(std::deque<Unpolled>& queue, const ibv_cq* cq, Queue& owner);
  void report_full(const ibv_qp& qp, const Queue& queue);
  void note_error_state(const ibv_qp& qp, Queue& queue);
  void report(std::string_view checker, bool remark, std::string text,
              const Posting* posting = nullptr);
  /// " at 1.5 s by client/main"; empty in real time.
  [[nodiscard]] std::string at(const Runtime::Mark& mark) const;
  [[nodiscard]] std::string story_of(const PastRegion& region) const;

  const MemoryTable& memory_;
  OwnershipSink& sink_;
  std::map<std::uint32_t, Queue> queues_;                 ///< by QPN
  std::map<std::uint32_t, std::deque<Posting*>> shared_;  ///< by the handle of the SRQ
  CompletionQueueAccount completion_queues_;
  RegionHistory regions_;
  PostedRanges sources_;  ///< of the device's postings
  PostedRanges targets_;
  PostedRanges filled_;  ///< of those whose completion waits to be polled
  std::vector<std::unique_ptr<Posting>> postings_;
  std::vector<Posting*> spare_;
};

}  // namespace anyrdma::verbs::soft
