// A queue of many timers, which tells the next instant at which one expires. The heap stores the
// position of each timer, so setting, moving and cancelling cost O(log n). No memory is allocated
// for each timer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "verbs/assert.h"
#include "verbs/time.h"

namespace anyrdma::verbs {

template <class Tag>
class TimerQueue;

/// One timer, embedded in its owner. When the timer expires, the queue returns it, and `tag` says
/// whose timer it is: typically a pointer to the owner and the purpose of the timer. A timer must
/// be idle when it is destroyed.
template <class Tag>
class Timer {
 public:
  explicit Timer(Tag tag) : tag_(tag) {}
  ~Timer() { CM_ASSERT(!armed()); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  [[nodiscard]] bool armed() const { return slot_ != kIdle; }
  [[nodiscard]] const Tag& tag() const { return tag_; }

 private:
  friend class TimerQueue<Tag>;
  static constexpr std::size_t kIdle = ~std::size_t{0};
  Tag tag_;
  std::size_t slot_ = kIdle;
};

/// A queue of timers, ordered by time and, at one instant, by the order in which they were armed,
/// on every machine. Not thread-safe. No timer may be armed when the queue is destroyed.
template <class Tag>
class TimerQueue {
 public:
  /// `moved` may be null. Otherwise the queue sets *moved to true whenever the next deadline may
  /// have changed.
  explicit TimerQueue(bool* moved = nullptr) : moved_(moved) {}
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;

  /// Sets a timer to expire at `at`. If the timer is armed already, its time changes. O(log n).
  void arm(Timer<Tag>& timer, Instant at) { arm(timer, at, take_turn()); }
  /// Reserves a place in the order of timers that expire at the same instant, for a timer that will
  /// be armed later with arm().
  [[nodiscard]] std::uint64_t take_turn() { return ++sequence_; }
  void arm(Timer<Tag>& timer, Instant at, std::uint64_t turn) {
    const Instant before = first_deadline();
    const Entry entry{at, turn, &timer};
    if (!timer.armed()) {
      timer.slot_ = heap_.size();
      heap_.push_back(entry);
      sift_up(timer.slot_, entry);
    } else {
      place(timer.slot_, entry);
    }
    note_move(before);
  }

  /// Cancels a timer, which becomes idle. No effect on an idle timer. O(log n).
  void cancel(Timer<Tag>& timer) {
    if (!timer.armed()) return;
    const Instant before = first_deadline();
    const std::size_t slot = timer.slot_;
    timer.slot_ = Timer<Tag>::kIdle;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (slot < heap_.size()) place(slot, last);
    note_move(before);
  }

  /// Returns the instant at which an armed timer expires. O(1).
  [[nodiscard]] Instant deadline(const Timer<Tag>& timer) const {
    CM_ASSERT(timer.armed());
    return heap_[timer.slot_].at;
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  /// Returns the instant at which the next timer expires; Instant::max(): no timer is armed. O(1).
  [[nodiscard]] Instant first_deadline() const {
    return heap_.empty() ? Instant::max() : heap_.front().at;
  }
  /// Whether some timer expires before a timer that would be armed for `at` in the place `turn`.
  /// O(1).
  [[nodiscard]] bool anything_before(Instant at, std::uint64_t turn) const {
    return !heap_.empty() && heap_.front().before({at, turn, nullptr});
  }
  /// Returns the instant at which the next timer expires; nullopt: no timer is armed.
  [[nodiscard]] std::optional<Instant> next_deadline() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().at;
  }

  /// Writes all timers that expire at the next deadline to `due`, in the order of arming. O(n log
  /// n) for n such timers.
  void first_of_all(std::vector<Timer<Tag>*>& due) const {
    due.clear();
    if (heap_.empty()) return;
    const Instant first = heap_.front().at;
    due.push_back(heap_.front().timer);
    for (std::size_t i = 0; i < due.size(); ++i) {  // a timer that is due has a parent that is due
      const std::size_t child = due[i]->slot_ * kFanout + 1;
      for (std::size_t slot = child; slot < child + kFanout && slot < heap_.size(); ++slot) {
        if (heap_[slot].at == first) due.push_back(heap_[slot].timer);
      }
    }
    std::sort(due.begin(), due.end(), [this](const auto* one, const auto* other) {
      return heap_[one->slot_].sequence < heap_[other->slot_].sequence;
    });
  }

  /// Removes and returns the first timer that has expired at the instant `now`; null: no timer has
  /// expired.
  [[nodiscard]] Timer<Tag>* next_expired(Instant now) {
    if (heap_.empty() || heap_.front().at > now) return nullptr;
    Timer<Tag>* timer = heap_.front().timer;
    cancel(*timer);
    return timer;
  }

  [[nodiscard]] std::size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    Instant at;
    std::uint64_t sequence;
    Timer<Tag>* timer;

    [[nodiscard]] bool before(const Entry& other) const {
      return at != other.at ? at < other.at : sequence < other.sequence;
    }
  };
  static constexpr std::size_t kFanout = 4;  // four entries share two cache lines

  void note_move(Instant before) {
    if (moved_ != nullptr && first_deadline() != before) *moved_ = true;
  }

  void put(std::size_t slot, const Entry& entry) {
    heap_[slot] = entry;
    entry.timer->slot_ = slot;
  }

  void place(std::size_t slot, const Entry& entry) {
    if (slot > 0 && entry.before(heap_[(slot - 1) / kFanout])) {
      sift_up(slot, entry);
    } else {
      sift_down(slot, entry);
    }
  }

  void sift_up(std::size_t slot, const Entry& entry) {
    while (slot > 0) {
      const std::size_t parent = (slot - 1) / kFanout;
      if (!entry.before(heap_[parent])) break;
      put(slot, heap_[parent]);
      slot = parent;
    }
    put(slot, entry);
  }

  void sift_down(std::size_t slot, const Entry& entry) {
    while (true) {
      const std::size_t first = slot * kFanout + 1;
      if (first >= heap_.size()) break;
      std::size_t best = first;
      for (std::size_t child = first + 1; child < first + kFanout && child < heap_.size(); ++child)
        if (heap_[child].before(heap_[best])) best = child;
      if (!heap_[best].before(entry)) break;
      put(slot, heap_[best]);
      slot = best;
    }
    put(slot, entry);
  }

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
  bool* moved_;
};

}  // namespace anyrdma::verbs
