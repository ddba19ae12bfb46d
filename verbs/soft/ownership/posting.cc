#include "verbs/soft/ownership/posting.h"

#include <algorithm>

namespace anyrdma::verbs::soft {
namespace {

const char* name_of(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_SEND_WITH_INV:
      return "SEND";
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return "WRITE";
    case IBV_WR_RDMA_READ:
      return "READ";
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return "compare-and-swap";
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return "fetch-and-add";
    default:  // foreign enum
      return "request";
  }
}

}  // namespace

void Posting::clear() {
  list.clear();
  ranges.clear();
  stack.clear();
  hit.clear();
  digest.reset();
  filled = 0;
  index = 0;
  overlaps = false;
}

std::string name_of(const Posting& posting) {
  std::string text = posting.is_receive ? "receive" : name_of(posting.opcode);
  text += " with wr_id " + std::to_string(posting.wr_id);
  text += posting.qp_num == 0 ? std::string(" of a shared receive queue")
                              : " on queue pair " + std::to_string(posting.qp_num);
  return text + " (" + std::to_string(posting.length) + " bytes)";
}

void PostedRanges::add(const MemoryRange& range, Posting& posting) {
  ranges_.emplace(range.begin, Entry{range.end, &posting});
  longest_ = std::max(longest_, range.end - range.begin);
}

void PostedRanges::remove(const MemoryRange& range, const Posting& posting) {
  const auto [first, last] = ranges_.equal_range(range.begin);
  const auto found =
      std::find_if(first, last, [&](const auto& each) { return each.second.posting == &posting; });
  if (found != last) ranges_.erase(found);
}

}  // namespace anyrdma::verbs::soft
