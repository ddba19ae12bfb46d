// The supervisor's side of the memory in which a process leaves entries for it
// (sim/points/entry_queue.h).
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

/// The entry queue of a program's image: execve(2) ends it, and a forked child has its own.
class SharedEntries {
 public:
  /// Null: the memory is not as it should be.
  [[nodiscard]] static std::unique_ptr<SharedEntries> map(
      const transport::realtime::Descriptor& memory);

  /// Reports to the host the entries that were left since the last call, in their order. False,
  /// once: the memory holds something else, and no later call takes anything from it.
  [[nodiscard]] bool tell(Host& host, std::string_view process);

 private:
  explicit SharedEntries(transport::realtime::SharedMemory memory) : memory_(std::move(memory)) {}

  transport::realtime::SharedMemory memory_;
  std::uint64_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace anyrdma::sim::programs
