// A pool of objects of one type. The memory of returned objects is reused, and is freed only with
// the pool.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

namespace anyrdma::ibcm {

/// Allocates objects that keep their address. The object that was returned last is reused first,
/// because it is probably still in the processor's cache.
template <class T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Returns an object in the state in which it was returned to the pool. If the pool is empty,
  /// returns a new object.
  [[nodiscard]] T& take() {
    if (free_.empty()) return storage_.emplace_back();
    T& object = *free_.back();
    free_.pop_back();
    return object;
  }
  void give_back(T& object) { free_.push_back(&object); }
  /// Returns how many objects are in use.
  [[nodiscard]] std::size_t in_use() const { return storage_.size() - free_.size(); }

 private:
  std::deque<T> storage_;
  std::vector<T*> free_;
};

}  // namespace anyrdma::ibcm
