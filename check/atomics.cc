#include "check/atomics.h"

#include <algorithm>

namespace anyrdma::check {
namespace {

constexpr std::string_view kAtomics = "atomics";

}  // namespace

const Atomics::Done* Atomics::find(const Stream& stream, std::uint32_t psn) const {
  const auto queue = done_.find(stream);
  if (queue == done_.end()) return nullptr;
  const auto found = std::find_if(queue->second.begin(), queue->second.end(),
                                  [psn](const Done& each) { return each.psn == psn; });
  return found == queue->second.end() ? nullptr : &*found;
}

void Atomics::on_done(const Stream& stream, std::uint32_t psn, std::uint64_t original) {
  if (find(stream, psn) != nullptr) {
    violations_.add(kAtomics,
                    stream.to_string() + ": PSN " + std::to_string(psn) + " is executed twice");
    return;
  }
  std::deque<Done>& queue = done_[stream];
  queue.push_back({psn, original});
  if (queue.size() > kRemembered) queue.pop_front();
}

void Atomics::on_answer(const Stream& stream, std::uint32_t psn, std::uint64_t original) {
  const Done* const done = find(stream, psn);
  if (done == nullptr || done->original == original) return;
  violations_.add(kAtomics, stream.to_string() + ": PSN " + std::to_string(psn) +
                                " is answered with the original value " + std::to_string(original) +
                                ", but memory had " + std::to_string(done->original));
}

}  // namespace anyrdma::check
