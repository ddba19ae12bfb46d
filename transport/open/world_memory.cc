#include "transport/open/world_memory.h"

#include <unistd.h>

#include <cerrno>

#include "transport/fault/plan/memory_question.h"


namespace anyrdma::transport {
namespace {

class MemoryOfWorld final : public verbs::soft::MemoryChooser {
 public:
  std::uint32_t choose(std::uint32_t count) override {
    const int error = errno;
    const long choice = ::syscall(fault::kMemoryCall, count);
    errno = error;
    return choice < 0 || choice >= static_cast<long>(count) ? 0
                                                            : static_cast<std::uint32_t>(choice);
  }
};

}  // namespace

verbs::soft::MemoryChooser& memory_of_world() {
  static MemoryOfWorld memory;
  return memory;
}

}  // namespace anyrdma::transport
