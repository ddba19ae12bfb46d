// A queue whose memory is one piece. Unlike std::deque, an empty one has no memory: most queue
// pairs never hold more than a few requests.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace anyrdma::check {

template <class Item>
class Fifo {
 public:
  using value_type = Item;
  using iterator = typename std::vector<Item>::iterator;
  using const_iterator = typename std::vector<Item>::const_iterator;

  [[nodiscard]] bool empty() const { return head_ == items_.size(); }
  [[nodiscard]] std::size_t size() const { return items_.size() - head_; }
  [[nodiscard]] iterator begin() { return items_.begin() + static_cast<std::ptrdiff_t>(head_); }
  [[nodiscard]] iterator end() { return items_.end(); }
  [[nodiscard]] const_iterator begin() const {
    return items_.begin() + static_cast<std::ptrdiff_t>(head_);
  }
  [[nodiscard]] const_iterator end() const { return items_.end(); }
  /// Precondition: not empty.
  [[nodiscard]] Item& front() { return items_[head_]; }
  [[nodiscard]] const Item& front() const { return items_[head_]; }

  void push_back(Item item) { items_.push_back(std::move(item)); }
  /// Precondition: not empty.
  void pop_front() { take(1); }
  void erase(iterator item) {
    if (item == begin()) return take(1);
    items_.erase(item);
  }
  /// Removes all items before `last`.
  void erase_before(iterator last) { take(static_cast<std::size_t>(last - begin())); }
  void clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  /// Removes the first items. Their places are freed in bulk, so that each removal takes constant
  /// time on average.
  void take(std::size_t count) {
    head_ += count;
    if (head_ == items_.size()) return clear();
    if (head_ < kFewest || head_ < items_.size() / 2) return;
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }

  static constexpr std::size_t kFewest = 32;
  std::vector<Item> items_;
  std::size_t head_ = 0;  ///< number of removed items that still have a place
};

}  // namespace anyrdma::check
