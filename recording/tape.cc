#include "recording/tape.h"

#include "recording/format.h"

namespace anyrdma::recording {

void Tape::keep(std::size_t used) {
  kept_.insert(kept_.end(), window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(used));
}

// The other sink may unmap the window that was used up.
std::span<std::uint8_t> Tape::window(std::size_t used) {
  keep(used);
  if (other_ != nullptr) return window_ = other_->window(used);
  own_.assign(2 * kEntryBytesMax, 0);
  return window_ = own_;
}

void Tape::finish(std::size_t used) {
  keep(used);
  window_ = {};
  if (other_ != nullptr) other_->finish(used);
}

std::vector<std::uint8_t> Tape::bytes() const {
  std::vector<std::uint8_t> all = kept_;
  all.insert(all.end(), window_.begin(), window_.end());
  return all;
}

}  // namespace anyrdma::recording
