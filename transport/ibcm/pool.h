// Objects of one kind that come and go: their memory is used again and never given back.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace anyrdma::ibcm {

/// Addresses are stable. The last to come back is the first to be given out: it is still warm.
template <class T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// An object as it was when it came back; a new one when none is left.
  [[nodiscard]] T& take() {
    if (free_.empty()) return storage_.emplace_back();
    T& object = *free_.back();
    free_.pop_back();
    return object;
  }
  void give_back(T& object) { free_.push_back(&object); }
  /// How many are taken.
  [[nodiscard]] std::size_t in_use() const { return storage_.size() - free_.size(); }

 private:
  std::deque<T> storage_;
  std::vector<T*> free_;
};

}  // namespace anyrdma::ibcm
