// Verbs objects that go with their owner.
#pragma once

#include <cerrno>
#include <utility>

namespace anyrdma::conformance {

/// One object, or none. Threads: the scenario's.
template <class Object>
class Owned {
 public:
  using Destroy = int (*)(Object*);

  Owned() = default;
  /// Null: none.
  Owned(Object* object, Destroy by) : object_(object), destroy_(by) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), destroy_(other.destroy_) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this == &other) return *this;
    reset();
    object_ = std::exchange(other.object_, nullptr);
    destroy_ = other.destroy_;
    return *this;
  }
  ~Owned() { reset(); }

  [[nodiscard]] Object* get() const { return object_; }
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  /// The error, with which it stays; EINVAL: there is none.
  [[nodiscard]] int destroy() {
    if (object_ == nullptr) return EINVAL;
    const int error = destroy_(object_);
    if (error == 0) object_ = nullptr;
    return error;
  }
  void reset() {
    if (object_ != nullptr) (void)destroy_(std::exchange(object_, nullptr));
  }

 private:
  Object* object_ = nullptr;
  Destroy destroy_ = nullptr;
};

}  // namespace anyrdma::conformance
