// Ownership of one C object of a provider: moved, never copied, destroyed with its owner.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <utility>

#include "verbs/provider.h"
#include "verbs/result.h"

namespace anyrdma::verbs {

/// The object of an empty handle. Types with a data path have one whose operations fail with
/// EINVAL, so callers need no check; for other types it is null.
template <class T>
[[nodiscard]] constexpr T* nobody() {
  return nullptr;
}

/// Base of the RAII classes. `Destroy` is the provider's function for this object.
/// Threads: distinct objects from any thread; one object from one thread at a time.
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
  /// Destroys the object. An object still in use (EBUSY) stays with its device: destroy users
  /// first.
  ~Handle() { discard(); }

  /// The C object, for functions that need it; null: the handle is empty.
  [[nodiscard]] T* get() const { return *this ? object_ : nullptr; }
  [[nodiscard]] explicit operator bool() const { return object_ != nobody<T>(); }
  /// Hands the object over to the caller.
  [[nodiscard]] T* release() {
    T* const object = get();
    object_ = nobody<T>();
    return object;
  }

  /// Destroys the object now and says how that went; the handle keeps it on failure. May wait for
  /// acknowledgements of events, as the C function does. EBUSY: in use; EINVAL: there is no object.
  [[nodiscard]] Result<void> destroy() {
    if (!*this) return errno_code(EINVAL);
    const Result<void> result = (provider_of(context_of(object_)).*Destroy)(object_);
    if (result) object_ = nobody<T>();
    return result;
  }

 protected:
  /// For the data path: never null for types that have an object for empty handles.
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
