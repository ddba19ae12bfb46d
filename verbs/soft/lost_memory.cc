// Findings about memory that is no longer what was registered (Ownership).
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "verbs/soft/ownership.h"

namespace anyrdma::verbs::soft {

bool Ownership::is_there(const std::uint8_t* bytes, std::uint64_t length) const {
  constexpr std::uint64_t kPage = 4096;
  std::uint8_t sum = 0;
  return memory_.touch([&] {
    const volatile std::uint8_t* const at = bytes;
    for (std::uint64_t i = 0; i < length; i += kPage) sum ^= at[i];
    sum ^= at[length - 1];
  });
}

std::string Ownership::story_of(const LostMemory::Part& part) const {
  return std::string(name_of(part.call)) + at(part.mark);
}

LiveRegion* Ownership::find_lossy(std::uint32_t key) {
  LiveRegion* const region = regions_.find_live(key);
  return region == nullptr || region->lost.count == 0 || region->told ? nullptr : region;
}

const LostMemory::Part* Ownership::find_anew(const LiveRegion& region, const std::uint8_t* begin,
                                             std::uint64_t length) const {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const LostMemory::Part* const part = region.lost.find(first, first + length);
  return part != nullptr && is_there(begin, length) ? part : nullptr;
}

void Ownership::judge_mappings(const Posting& posting, std::uint64_t bytes) {
  if (posting.use == BufferUse::kNone) return;
  for (const ibv_sge& piece : posting.list) {
    const std::uint64_t length = std::min<std::uint64_t>(bytes, piece.length);
    if (length == 0) continue;
    bytes -= length;
    LiveRegion* const region = find_lossy(piece.lkey);
    if (region == nullptr) continue;
    const std::uint8_t* const at_bytes =
        memory_.translate(piece.lkey, posting.domain, piece.addr, length, 0);
    const auto* const part = at_bytes == nullptr ? nullptr : find_anew(*region, at_bytes, length);
    if (part == nullptr) continue;
    region->told = true;
    return report("region", false,
                  "the " + name_of(posting) + ", posted" + at(posting.mark) +
                      ", uses memory that the program has mapped anew with " + story_of(*part) +
                      ", although its region was registered" + at(region->about.began) +
                      " and still is. A NIC uses the pages of the registration, which the program "
                      "does not see any more. Deregister a region before its memory changes",
                  &posting);
  }
}

void Ownership::on_peer_use(const ibv_qp& qp, std::uint32_t key, const void* bytes,
                            std::uint64_t length, std::string_view what) {
  LiveRegion* const region = find_lossy(memory_.region_key_of(key));
  if (region == nullptr) return;
  const auto* const part = find_anew(*region, static_cast<const std::uint8_t*>(bytes), length);
  if (part == nullptr) return;
  region->told = true;
  report("region", false,
         "the peer of queue pair " + std::to_string(qp.qp_num) + " asks for a " +
             std::string(what) + " of " + std::to_string(length) + " bytes" +
             " of memory that the program has mapped anew with " + story_of(*part) +
             ", although its region was registered" + at(region->about.began) +
             " and still is. A NIC uses the pages of the registration, which the program does not "
             "see any more. Deregister a region before its memory changes");
}

void Ownership::on_unmapped(const ibv_qp& qp, std::uint32_t key, std::uint64_t length,
                            std::string_view what) {
  if (memory_.is_dmabuf(key)) return;  // its exporter may take it away
  LiveRegion* const region = regions_.find_live(memory_.region_key_of(key));
  if (region != nullptr && std::exchange(region->told, true)) return;
  const bool known = region != nullptr && region->lost.count != 0;
  report("region", false,
         "the peer of queue pair " + std::to_string(qp.qp_num) + " asks for a " +
             std::string(what) + " of " + std::to_string(length) + " bytes" +
             " of a region whose memory is not mapped any more" +
             (known ? " since " + story_of(region->lost.parts.front()) : std::string()) +
             ", although the region is still registered. Keep memory until no peer uses its key");
}

}  // namespace anyrdma::verbs::soft
