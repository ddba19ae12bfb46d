// Ownership of one C object of a provider: moved, never copied, destroyed with its owner.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <utility>

#include "verbs/provider.h"
#include "verbs/result.h"

namespace anyrdma::verbs {

/// Base of the RAII classes. `Destroy` is the provider's function for this object.
/// Threads: distinct objects from any thread; one object from one thread at a time.
template <class T, Result<void> (Provider::*Destroy)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* object) : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      discard();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Destroys the object. An object still in use (EBUSY) stays with its device: destroy users
  /// first.
  ~Handle() { discard(); }

  /// The C object, for every function that wants it; null when there is none.
  [[nodiscard]] T* get() const { return object_; }
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  /// Hands the object over to the caller.
  [[nodiscard]] T* release() { return std::exchange(object_, nullptr); }

  /// Destroys the object now and says how that went; the handle keeps it on failure. May wait for
  /// acknowledgements of events, as the C function does. EBUSY: in use; EINVAL: there is no object.
  [[nodiscard]] Result<void> destroy() {
    if (object_ == nullptr) return errno_code(EINVAL);
    const Result<void> result = (provider_of(context_of(object_)).*Destroy)(object_);
    if (result) object_ = nullptr;
    return result;
  }

 private:
  static const ibv_context* context_of(const ibv_context* context) { return context; }
  template <class Object>
  static const ibv_context* context_of(const Object* object) {
    return object->context;
  }

  void discard() {
    if (object_ != nullptr && !destroy()) object_ = nullptr;
  }

  T* object_ = nullptr;
};

}  // namespace anyrdma::verbs
