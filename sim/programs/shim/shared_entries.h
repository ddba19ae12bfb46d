// The supervisor's side of the shared memory through which a process reports events (entries)
// without a system call (sim/points/entry_queue.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "sim/points/entry_queue.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/shared_memory.h"

namespace anyrdma::sim {
class Host;
}

namespace anyrdma::sim::programs {

/// The entry queue of one process. execve(2) ends it, and a child of fork(2) gets its own.
class SharedEntries {
 public:
  /// Maps the entry queue of a process. Null: the memory does not have the expected form.
  [[nodiscard]] static std::unique_ptr<SharedEntries> map(
      const transport::realtime::Descriptor& memory);

  /// Takes the entries that the process has written since the last call, and reports them to the
  /// host in their order. Returns false once if the memory contains invalid data; later calls take
  /// nothing.
  [[nodiscard]] bool tell(Host& host, std::string_view process);

 private:
  explicit SharedEntries(transport::realtime::SharedMemory memory) : memory_(std::move(memory)) {}

  transport::realtime::SharedMemory memory_;
  std::uint64_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace anyrdma::sim::programs
