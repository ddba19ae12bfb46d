// The world's end of the memory in which a process leaves words for it
// (sim/points/word_queue.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "sim/points/word_queue.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/shared_memory.h"

namespace anyrdma::sim {
class Host;
}

namespace anyrdma::sim::programs {

/// Of a program's image: execve(2) ends it, and a child that was forked has its own.
class SharedWords {
 public:
  /// Null: the memory is not as it should be.
  [[nodiscard]] static std::unique_ptr<SharedWords> map(
      const transport::realtime::Descriptor& memory);

  /// Tells the host what has been left there since the last time, in its order.
  void tell(Host& host, std::string_view process);

 private:
  explicit SharedWords(transport::realtime::SharedMemory memory) : memory_(std::move(memory)) {}

  transport::realtime::SharedMemory memory_;
  std::uint64_t taken_ = 0;
};

}  // namespace anyrdma::sim::programs
