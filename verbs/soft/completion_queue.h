// Completion queues of the software HCA, and the channels that report their completions.
#pragma once

#include <infiniband/verbs.h>

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>

#include "verbs/runtime.h"
#include "verbs/soft/bracket.h"
#include "verbs/soft/core.h"
#include "verbs/soft/extended_layout.h"
#include "verbs/soft/freed_places.h"
#include "verbs/soft/handle_table.h"
#include "verbs/soft/ring.h"

namespace anyrdma::verbs::soft {

class SoftCq;
class SoftContext;

/// Links an object into a list of existing objects, and removes it from the list when it is
/// destroyed.
using LiveHook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
template <class T>
using LiveList = boost::intrusive::list<T, boost::intrusive::constant_time_size<false>>;

/// The struct behind the application's ibv_comp_channel. A channel has no handle; the kernel
/// identifies it by its file descriptor.
struct SoftChannel : ibv_comp_channel, LiveHook {
  int descriptor = -1;  ///< the descriptor as the kernel would know it; -1: none
  /// One unit per announced completion queue. Threads that wait share it: they may outlast the
  /// channel.
  std::shared_ptr<Semaphore> semaphore;
  Ring<SoftCq*> announced;
};

/// The state between a thread's ibv_start_poll and its ibv_end_poll.
struct PollBracket {
  explicit PollBracket(bool one_thread) : bracket(one_thread) {}

  Bracket bracket;
  ibv_wc completion{};  ///< the completion that the thread reads now
  Instant completed{};  ///< when that completion arrived, if the queue has timestamps
};

/// The object behind the application's ibv_cq or ibv_cq_ex. All functions are called inside the
/// runtime's critical section (Runtime::enter).
class SoftCq : public ExtensibleCq, public LiveHook {
 public:
  static constexpr ObjectKind kKind = ObjectKind::kCompletionQueue;
  SoftCq(SoftContext& context, int depth, void* user, SoftChannel* channel);
  ~SoftCq();
  SoftCq(const SoftCq&) = delete;
  SoftCq& operator=(const SoftCq&) = delete;

  /// Appends a completion, and sends a completion event if the application has requested one.
  /// `solicited`: the peer has set the solicited event bit; completions with errors always count as
  /// solicited. `frees`: what polling it frees. If the queue is full, this completion and all later
  /// ones are lost: see overrun().
  void push(const ibv_wc& completion, bool solicited, const FreedPlaces& frees) {
    ibv_wc* const place = add(frees);
    if (place == nullptr) return;
    *place = completion;
    added(*place, solicited);
  }
  /// Returns a place at the end of the queue for a new completion, so that no copy is needed. The
  /// place has the content of an old completion. The caller fills it in and then calls added().
  /// Null: the queue is full and the completion is lost.
  [[nodiscard]] ibv_wc* add(const FreedPlaces& frees) {
    if (entries_.size() >= room_ && !make_room()) return nullptr;
    Entry& entry = entries_.add();
    entry.frees = frees;
    return &entry.completion;
  }
  void added(const ibv_wc& completion, bool solicited) {
    if (options_.timestamps) note_instant();
    if (armed_ != Armed::kNo) announce_in_time(solicited || completion.status != IBV_WC_SUCCESS);
  }
  [[nodiscard]] int poll(int count, ibv_wc* completions);
  /// The options of ibv_create_cq_ex.
  struct Options {
    bool timestamps = false;  ///< the queue keeps the time of each completion
    bool overwrites = false;  ///< a full queue drops its oldest completion, and does not overrun
  };
  void set_options(const Options& options) { options_ = options; }
  /// Changes the capacity. False: the queue holds more completions than that.
  [[nodiscard]] bool resize(int depth);
  /// Settings of event moderation (ibv_modify_cq). A completion event is sent when `count`
  /// completions have arrived, or when `period` has passed since the first of them, whichever comes
  /// first. A setting of 0 disables that condition. If both are 0, events are not delayed.
  struct Moderation {
    std::uint16_t count = 0;
    Duration period{};
  };
  void set_moderation(const Moderation& moderation);
  /// Called when the period of event moderation is over; sends the completion event.
  void end_of_period() { announce(); }
  /// Requests one completion event, as ibv_req_notify_cq does: for the next completion or, if
  /// `solicited_only`, for the next solicited completion.
  void request_notification(bool solicited_only);
  /// Puts the queue into the overrun state, in which no completion fits (IBTA vol 1, 11.6.3), and
  /// raises IBV_EVENT_CQ_ERR. Queue pairs that use the queue go to ERR soon afterwards, since they
  /// cannot report completions. The application can still poll queued completions. Call this
  /// function once at most.
  void overrun();
  [[nodiscard]] bool is_overrun() const { return room_ == 0; }
  /// Whether the queue has dropped old completions to make room for new ones (Options::overwrites).
  [[nodiscard]] bool has_dropped() const { return dropped_; }
  /// Removes the completions of a QP. Called when the QP goes to RESET or is destroyed (IBTA vol 1,
  /// 11.2.5.3).
  void purge(std::uint32_t qp_num);
  /// Forgets what unpolled completions free in a work queue that ends. `freed`: its counter.
  void forget_places(const std::uint32_t* freed);
  /// Returns the number of unpolled completions of a QP. `received`: those of receives; else those
  /// of sends.
  [[nodiscard]] std::size_t waiting(std::uint32_t qp_num, bool received) const;
  /// Returns the number of armed timers of this queue, up to two: one before its QPs fail after an
  /// overrun, and one for event moderation.
  [[nodiscard]] std::size_t timers() const {
    return std::size_t{lost_.armed()} + std::size_t{held_back_.armed()};
  }

  Registration registration;
  /// The queue's number among the completion queues created on its host.
  std::uint64_t made = 0;
  unsigned users = 0;              ///< QPs that refer to it
  std::uint32_t polls = 0;         ///< the application's polls, modulo 2^32
  std::uint32_t taken = 0;         ///< completion events handed to the application
  std::uint32_t acknowledged = 0;  ///< ... and acknowledged by it
  std::uint32_t async_taken = 0;
  std::uint32_t async_acknowledged = 0;
  Runtime::Mark taker;                   ///< the thread that fetched the last of these events
  Semaphore* destroyer = nullptr;        ///< posted on acknowledgement while destruction waits
  std::unique_ptr<PollBracket> polling;  ///< the state of ibv_start_poll on an extended queue

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };
  struct Entry {
    ibv_wc completion;
    FreedPlaces frees;
  };
  void announce();
  void announce_in_time(bool solicited);
  [[nodiscard]] bool make_room();
  void note_instant();

  Ring<Entry> entries_;
  std::size_t room_;  ///< free places in the queue; 0 if the queue has overrun
  Armed armed_ = Armed::kNo;
  bool dropped_ = false;
  Options options_{};
  Ring<Instant> instants_;  ///< arrival times of the entries, if the queue has timestamps
  Moderation moderation_{};
  std::uint32_t held_ = 0;  ///< number of completions whose event waits (event moderation)
  QpTimer held_back_{QpTimerTag{nullptr, QpTimerKind::kModerated, this}};
  QpTimer lost_{QpTimerTag{nullptr, QpTimerKind::kOverrun, this}};
};

}  // namespace anyrdma::verbs::soft
