#include "sim/programs/shared_words.h"

#include "sim/host.h"

namespace anyrdma::sim::programs {

using transport::realtime::SharedMemory;

std::unique_ptr<SharedWords> SharedWords::map(const transport::realtime::Descriptor& memory) {
  auto mapped = SharedMemory::map(memory.get(), sizeof(WordQueue));
  if (!mapped) return nullptr;
  return std::unique_ptr<SharedWords>(new SharedWords(std::move(*mapped)));
}

void SharedWords::tell(Host& host, std::string_view process) {
  auto& queue = *reinterpret_cast<WordQueue*>(memory_.bytes().data());
  while (auto word = queue.take(taken_)) (void)host.advise(process, *word);
}

}  // namespace anyrdma::sim::programs
