// The single object of a process on the drop-in libraries: its access to other hosts.
#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.h"
#include "verbs/result.h"
#include "verbs/runtime.h"

namespace anyrdma::c_api {

/// The transport behind every device and id of this process, opened at the first call: the one that
/// ANYRDMA_TRANSPORT names. Lives as long as the process: the application may still use it from
/// threads that outlive main(). ENODEV: it cannot be opened; the first failure has put one line on
/// stderr that names cause and remedy. Threads: any.
[[nodiscard]] verbs::Result<transport::Transport*> process_transport();

/// Takes what the application has destroyed although one of its threads may still be inside, or is
/// about to enter. It stays in memory for some time. Threads: any.
void bury(std::shared_ptr<void> object);

/// Before anything changes hands: throws what a runtime throws for callers that it refuses.
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
  /// The application has given it back, or is about to.
  virtual void on_gone(void* object) = 0;
};
/// May be null. Set it before the first call of the C API.
inline constinit Inventory* inventory = nullptr;

inline void note_made(Inventory::Kind kind, void* object) {
  if (inventory != nullptr) inventory->on_made(kind, object);
}
inline void note_gone(void* object) {
  if (inventory != nullptr) inventory->on_gone(object);
}

}  // namespace anyrdma::c_api
