// The single object of a process on the drop-in libraries: its access to other hosts.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.h"
#include "verbs/result.h"
#include "verbs/runtime.h"

namespace anyrdma::c_api {

/// Returns the transport of this process, which all its devices and ids use. The first call opens
/// the transport that ANYRDMA_TRANSPORT names. The object is never destroyed, since threads may use
/// it after main(). ENODEV: it cannot be opened. The first failure prints one line with cause and
/// remedy to stderr. Any thread.
[[nodiscard]] verbs::Result<transport::Transport*> process_transport();

/// Keeps an object that the application has destroyed in memory for some time, because another
/// thread of the application may still be in a call on it. Any thread.
void bury(std::shared_ptr<void> object);

/// Call before a C function changes anything: throws the exception of a runtime that refuses calls
/// from this thread (ForeignThread, for example).
inline void check_caller(verbs::Runtime& runtime) {
  const verbs::CriticalSection section(runtime);
}

/// Observes the objects that the application gets from the C API, so that they can be freed when a
/// simulated process ends. In a real process the kernel does that, and there is no observer.
/// Threads: any.
class Inventory {
 public:
  enum class Kind : std::uint8_t { kChannel, kId, kContext };
  virtual ~Inventory() = default;
  virtual void on_made(Kind kind, void* object) = 0;
  /// The application has returned the object, or is about to return it.
  virtual void on_gone(void* object) = 0;
};
/// The observer of this process; may be null. Set it before the first call of the C API.
inline constinit Inventory* inventory = nullptr;

inline void note_made(Inventory::Kind kind, void* object) {
  if (inventory != nullptr) inventory->on_made(kind, object);
}
inline void note_gone(void* object) {
  if (inventory != nullptr) inventory->on_gone(object);
}

}  // namespace anyrdma::c_api
