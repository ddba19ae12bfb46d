// The transport (the access to other hosts) of a process that uses the drop-in libraries. Each
// process has one transport.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.h"
#include "verbs/result.h"
#include "verbs/runtime.h"

namespace anyrdma::c_api {

/// Returns the transport of this process, which all its devices and ids use. The first call opens
/// the transport that $ANYRDMA_TRANSPORT names. The object is never destroyed, since threads may
/// use it after main(). ENODEV: the transport cannot be opened. The first failure prints one line
/// with cause and remedy to stderr. Any thread.
[[nodiscard]] verbs::Result<transport::Transport*> process_transport();

/// Keeps the memory of `object` for some time after the application has destroyed it, because
/// another thread of the application may still be in a call on that object. Any thread.
void bury(std::shared_ptr<void> object);

/// Throws the exception of a runtime that refuses calls from this thread (ForeignThread, for
/// example). Every C function calls this function before it changes anything.
inline void check_caller(verbs::Runtime& runtime) {
  const verbs::CriticalSection section(runtime);
}

/// Observes the objects that the application gets from the C API. The simulator uses the interface
/// to free the objects when a simulated process ends. For a real process the kernel does that, and
/// there is no observer. Called from any thread.
class Inventory {
 public:
  enum class Kind : std::uint8_t { kChannel, kId, kContext };
  virtual ~Inventory() = default;
  virtual void on_made(Kind kind, void* object) = 0;
  /// Called when the application has returned `object`, or is about to return it.
  virtual void on_gone(void* object) = 0;
};
/// The observer of the objects of this process; null: none. Set it before the first call of the C
/// API.
inline constinit Inventory* inventory = nullptr;

inline void note_made(Inventory::Kind kind, void* object) {
  if (inventory != nullptr) inventory->on_made(kind, object);
}
inline void note_gone(void* object) {
  if (inventory != nullptr) inventory->on_gone(object);
}

}  // namespace anyrdma::c_api
