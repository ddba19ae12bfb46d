// The base class of RAII handles. Each handle owns one C object of a provider (a device
// implementation), and can be moved and not copied.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <utility>

#include "verbs/provider.h"
#include "verbs/result.h"

namespace anyrdma::verbs {

/// The C object that an empty handle of this type refers to. Types with a data path (queue pairs,
/// completion queues) have such an object: its operations fail with EINVAL, so that calls need no
/// check for an empty handle. For other types, the pointer is null.
template <class T>
[[nodiscard]] constexpr T* nobody() {
  return nullptr;
}

/// Base of the RAII classes. `Destroy` is the provider's function that destroys an object of this
/// type. Threads: distinct objects from any thread; one object from one thread at a time.
template <class T, Result<void> (Provider::*Destroy)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* object) : object_(object != nullptr ? object : nobody<T>()) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nobody<T>())) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      discard();
      object_ = std::exchange(other.object_, nobody<T>());
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Destroys the object. If the object is still in use (EBUSY), it remains until its device is
  /// closed. Therefore destroy the users of the object first.
  ~Handle() { discard(); }

  /// Returns the C object, to pass it to C functions; null if the handle is empty.
  [[nodiscard]] T* get() const { return *this ? object_ : nullptr; }
  [[nodiscard]] explicit operator bool() const { return object_ != nobody<T>(); }
  /// Transfers ownership of the object to the caller.
  [[nodiscard]] T* release() {
    T* const object = get();
    object_ = nobody<T>();
    return object;
  }

  /// Destroys the object now and returns the result. On failure the handle keeps the object. May
  /// wait until the program has acknowledged the object's events, as the C function does. EBUSY: in
  /// use; EINVAL: the handle is empty.
  [[nodiscard]] Result<void> destroy() {
    if (!*this) return errno_code(EINVAL);
    const Result<void> result = (provider_of(context_of(object_)).*Destroy)(object_);
    if (result) object_ = nobody<T>();
    return result;
  }

 protected:
  /// Returns the object for calls of the data path. If the handle is empty, returns the type's
  /// object for empty handles, which may be null.
  [[nodiscard]] T* object() const { return object_; }

 private:
  static const ibv_context* context_of(const ibv_context* context) { return context; }
  template <class Object>
  static const ibv_context* context_of(const Object* object) {
    return object->context;
  }

  void discard() {
    if (*this && !destroy()) object_ = nobody<T>();
  }

  T* object_ = nobody<T>();
};

}  // namespace anyrdma::verbs
