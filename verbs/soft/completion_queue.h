// Completion queues and the channels that announce them.
#pragma once

#include <infiniband/verbs.h>

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <memory>

#include "verbs/runtime.h"
#include "verbs/soft/bracket.h"
#include "verbs/soft/core.h"
#include "verbs/soft/extended_layout.h"
#include "verbs/soft/handle_table.h"
#include "verbs/soft/ring.h"

namespace anyrdma::verbs::soft {

class SoftCq;
class SoftContext;

/// An object that leaves its list when it is destroyed.
using LiveHook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
template <class T>
using LiveList = boost::intrusive::list<T, boost::intrusive::constant_time_size<false>>;

/// The application's ibv_comp_channel. It has no handle: a kernel knows it by its descriptor.
struct SoftChannel : ibv_comp_channel, LiveHook {
  int descriptor = -1;                   ///< the descriptor as the kernel would know it; -1: none
  std::unique_ptr<Semaphore> semaphore;  ///< one unit per announced completion queue
  Ring<SoftCq*> announced;
};

/// The state of a thread's ibv_start_poll.
struct PollBracket {
  explicit PollBracket(bool one_thread) : bracket(one_thread) {}

  Bracket bracket;
  ibv_wc completion{};  ///< the current one
  Instant completed{};  ///< when it was, if the queue notes that
};

/// The application's ibv_cq or ibv_cq_ex. Used inside the critical section.
class SoftCq : public ExtensibleCq, public LiveHook {
 public:
  static constexpr ObjectKind kKind = ObjectKind::kCompletionQueue;
  SoftCq(SoftContext& context, int depth, void* user, SoftChannel* channel);
  ~SoftCq();
  SoftCq(const SoftCq&) = delete;
  SoftCq& operator=(const SoftCq&) = delete;

  /// Appends a completion and announces it if asked to. `solicited`: the peer asked for an event;
  /// errors always count as solicited. A full queue loses it, and all that follow: overrun().
  void push(const ibv_wc& completion, bool solicited) {
    ibv_wc* const place = add();
    if (place == nullptr) return;
    *place = completion;
    added(*place, solicited);
  }
  /// The same for who makes it in its place, which is faster than to copy what has just been made:
  /// what is there is old; null when it is lost. added() must follow.
  [[nodiscard]] ibv_wc* add() {
    return entries_.size() >= room_ && !make_room() ? nullptr : &entries_.add();
  }
  void added(const ibv_wc& completion, bool solicited) {
    if (options_.timestamps) note_instant();
    if (armed_ != Armed::kNo) announce_in_time(solicited || completion.status != IBV_WC_SUCCESS);
  }
  [[nodiscard]] int poll(int count, ibv_wc* completions);
  /// The options of ibv_create_cq_ex.
  struct Options {
    bool timestamps = false;  ///< each completion's instant is kept for the bracket
    bool overwrites = false;  ///< a full queue loses its oldest completion and nothing is said
  };
  void set_options(const Options& options) { options_ = options; }
  /// Changes how many completions it holds. False: more are there.
  [[nodiscard]] bool resize(int depth);
  /// ibv_modify_cq: a completion that is to be announced waits until `count` of them have come or
  /// `period` has passed since the first, whichever comes first; 0 is never. Both 0: none waits.
  struct Moderation {
    std::uint16_t count = 0;
    Duration period{};
  };
  void set_moderation(const Moderation& moderation);
  /// The timer of the moderation has expired.
  void end_of_period() { announce(); }
  /// ibv_req_notify_cq: the next completion (or solicited completion) is announced, once.
  void request_notification(bool solicited_only);
  /// Makes the queue overrun: no more completions fit (IBTA vol 1, 11.6.3). Raises
  /// IBV_EVENT_CQ_ERR; its QPs fail soon, since they cannot report any more. Queued completions can
  /// be polled. Call it once.
  void overrun();
  [[nodiscard]] bool is_overrun() const { return room_ == 0; }
  /// Whether it has lost completions in silence (Options::overwrites).
  [[nodiscard]] bool has_dropped() const { return dropped_; }
  /// Forgets the completions of a QP (IBTA vol 1, 11.2.5.3: transition to RESET; destruction).
  void purge(std::uint32_t qp_num);
  /// How many completions of a QP wait to be polled.
  [[nodiscard]] std::size_t waiting(std::uint32_t qp_num, bool received) const;
  /// Its own timers: it is overrun and its QPs have yet to fail; an announcement is held back.
  [[nodiscard]] std::size_t timers() const {
    return std::size_t{lost_.armed()} + std::size_t{held_back_.armed()};
  }

  Registration registration;
  std::uint64_t made = 0;          ///< the n-th on its host
  unsigned users = 0;              ///< QPs that refer to it
  std::uint32_t polls = 0;         ///< by the application, modulo 2^32
  std::uint32_t taken = 0;         ///< completion events handed to the application
  std::uint32_t acknowledged = 0;  ///< ... and acknowledged by it
  std::uint32_t async_taken = 0;
  std::uint32_t async_acknowledged = 0;
  Runtime::Mark taker;                   ///< who took the last of these events
  Semaphore* destroyer = nullptr;        ///< posted on acknowledgement while destruction waits
  std::unique_ptr<PollBracket> polling;  ///< of an extended queue

 private:
  enum class Armed : std::uint8_t { kNo, kSolicited, kAny };
  void announce();
  void announce_in_time(bool solicited);
  [[nodiscard]] bool make_room();
  void note_instant();

  Ring<ibv_wc> entries_;
  std::size_t room_;  ///< completions that it holds; 0: it is overrun
  Armed armed_ = Armed::kNo;
  bool dropped_ = false;
  Options options_{};
  Ring<Instant> instants_;  ///< of the entries, if they have timestamps
  Moderation moderation_{};
  std::uint32_t held_ = 0;  ///< completions that wait to be announced
  QpTimer held_back_{QpTimerTag{nullptr, QpTimerKind::kModerated, this}};
  QpTimer lost_{QpTimerTag{nullptr, QpTimerKind::kOverrun, this}};
};

}  // namespace anyrdma::verbs::soft
