// Keeps the memory of objects of a closed context, because the program may still have pointers to
// them.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <new>

namespace anyrdma::verbs::soft {

/// Keeps the memory of objects that were destroyed because their context was closed. With
/// rdma-core, only the kernel's part of such an object is destroyed, and the struct stays. A call
/// with the struct then returns an error and reads no reused memory. Python's garbage collector
/// makes such calls, because it destroys unreachable objects in any order.
class Graveyard {
 public:
  Graveyard() = default;
  Graveyard(const Graveyard&) = delete;
  Graveyard& operator=(const Graveyard&) = delete;
  ~Graveyard() {
    for (const Grave& grave : graves_) grave.free(grave.memory);
  }

  /// Destroys `object`, which was made by new. The struct that the application sees, the base
  /// `Shown`, stays unchanged in memory until thousands of other objects have been destroyed.
  template <class Shown, class Object>
  void bury(Object* object) {
    auto* const shown = static_cast<Shown*>(object);
    alignas(Shown) std::byte bytes[sizeof(Shown)];
    std::memcpy(bytes, static_cast<const void*>(shown), sizeof bytes);
    std::destroy_at(object);
    std::memcpy(static_cast<void*>(shown), bytes, sizeof bytes);
    graves_.push_back({object, free<Object>});
    if (graves_.size() <= kMost) return;
    graves_.front().free(graves_.front().memory);
    graves_.pop_front();
  }

 private:
  static constexpr std::size_t kMost = 4096;

  struct Grave {
    void* memory;
    void (*free)(void* memory);
  };

  template <class Object>
  static void free(void* memory) {
    if constexpr (alignof(Object) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete (memory, std::align_val_t{alignof(Object)});
    } else {
      ::operator delete(memory);
    }
  }

  std::deque<Grave> graves_;
};

}  // namespace anyrdma::verbs::soft
