// A queue in a circular buffer. The buffer grows by doubling and never shrinks, so that later use
// allocates no memory. An empty queue has no memory, because most queues of most objects stay
// empty.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "verbs/assert.h"

namespace anyrdma::verbs::soft {

template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& front() { return slots_[head_]; }
  /// Returns the i-th oldest element.
  [[nodiscard]] T& operator[](std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const {
    return slots_[(head_ + i) & (slots_.size() - 1)];
  }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }

  void push_back(T value) {
    if (size_ == slots_.size()) grow();
    slots_[(head_ + size_) & (slots_.size() - 1)] = std::move(value);
    ++size_;
  }

  /// Adds an element at the back and returns it. The element has the content of an earlier element.
  [[nodiscard]] T& add() {
    if (size_ == slots_.size()) grow();
    return slots_[(head_ + size_++) & (slots_.size() - 1)];
  }

  T pop_front() {
    CM_ASSERT(size_ > 0);
    T value = std::move(slots_[head_]);
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
    return value;
  }

  /// Removes the oldest element. Its content stays in the buffer.
  void drop_front() {
    CM_ASSERT(size_ > 0);
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }

  void clear() {
    while (!empty()) pop_front();
  }

  /// Removes the elements for which `unwanted` returns true, and keeps the order of the others.
  /// Returns the number of removed elements.
  template <class Predicate>
  std::size_t remove_if(Predicate unwanted) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      if (unwanted((*this)[i])) continue;
      if (kept != i) (*this)[kept] = std::move((*this)[i]);
      ++kept;
    }
    return std::exchange(size_, kept) - kept;
  }

 private:
  static constexpr std::size_t kFirstSize = 2;

  void grow() {
    std::vector<T> larger(slots_.empty() ? kFirstSize : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace anyrdma::verbs::soft
