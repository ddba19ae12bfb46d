#include "cm/rsocket/pages.h"

#include <sys/mman.h>

#include <cerrno>

namespace anyrdma::rsocket {

verbs::Result<Pages> Pages::map(std::size_t size) {
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return verbs::errno_code(ENOMEM);
  return Pages(static_cast<std::byte*>(memory), size);
}

void Pages::Unmap::operator()(std::byte* memory) const {
  (void)::munmap(memory, size);
}

}  // namespace anyrdma::rsocket
