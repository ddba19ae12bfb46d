#include "sim/memory.h"

#include <algorithm>
#include <utility>

namespace anyrdma::sim {

MemoryChoices::MemoryChoices(Memory memory, const Seeds& seeds)
    : memory_(std::move(memory)), random_(seeds, "memory") {}

std::uint32_t MemoryChoices::choose(std::uint32_t count) {
  if (is_strict()) return 0;
  std::uint32_t choice = 0;
  if (memory_.given) {
    const std::vector<Deviation>& given = *memory_.given;
    while (next_given_ < given.size() && given[next_given_].point < point_) ++next_given_;
    if (next_given_ < given.size() && given[next_given_].point == point_)
      choice = std::min(given[next_given_].choice, count - 1);
  } else if (random_.below(2) != 0) {  // as often what a strict device does as anything else
    choice = static_cast<std::uint32_t>(1 + random_.below(count - 1));
  }
  if (choice != 0) made_.push_back({point_, choice});
  ++point_;
  return choice;
}

}  // namespace anyrdma::sim
