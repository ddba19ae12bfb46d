// Objects that the program names by a descriptor.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace anyrdma::rsocket {

/// Finds objects by descriptor. A call keeps its object while another thread removes it. Threads:
/// any.
template <class Object>
class Numbered {
 public:
  void add(int number, std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    const auto place = static_cast<std::size_t>(number);
    if (place >= objects_.size()) objects_.resize(place + 1);
    objects_[place] = std::move(object);
  }
  /// Null: the number names no object of this kind.
  [[nodiscard]] std::shared_ptr<Object> find(int number) const {
    const std::lock_guard lock(mutex_);
    const auto place = static_cast<std::size_t>(number);
    return number >= 0 && place < objects_.size() ? objects_[place] : nullptr;
  }
  /// Removes and returns the object; null as for find().
  std::shared_ptr<Object> take(int number) {
    const std::lock_guard lock(mutex_);
    const auto place = static_cast<std::size_t>(number);
    if (number < 0 || place >= objects_.size()) return nullptr;
    return std::exchange(objects_[place], nullptr);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Object>> objects_;
};

}  // namespace anyrdma::rsocket
