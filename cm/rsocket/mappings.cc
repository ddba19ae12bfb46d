#include "cm/rsocket/mappings.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace anyrdma::rsocket {

Mappings::~Mappings() {
  for (const Own& each : own_) (void)ibv_dereg_mr(each.region);
  if (entries_region_ != nullptr) (void)ibv_dereg_mr(entries_region_);
}

void Mappings::begin(ibv_pd* pd, const ConnectData& peer) {
  pd_ = pd;
  peer_ = peer;
  used_.assign(peer.mappings, false);
}

verbs::Result<void> Mappings::make_entries() {
  if (entries_ != nullptr) return {};
  auto pages = Pages::map(peer_.mappings * kMappingSize);
  if (!pages) return pages.error();
  ibv_mr* const region = ibv_reg_mr(pd_, pages->bytes().data(), pages->bytes().size(), 0);
  if (region == nullptr) return verbs::errno_code(errno);
  entries_ = std::make_unique<Pages>(std::move(*pages));
  entries_region_ = region;
  return {};
}

std::optional<std::uint32_t> Mappings::free_index() const {
  const auto free = std::find(used_.begin(), used_.end(), false);
  if (free == used_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(free - used_.begin());
}

verbs::Result<::off_t> Mappings::add(void* memory, std::size_t length, bool remote,
                                     ::off_t offset) {
  if (offset == -1) offset = static_cast<::off_t>(reinterpret_cast<std::uintptr_t>(memory));
  const auto index = remote ? free_index() : std::nullopt;
  if (remote) {
    if (!index) return verbs::errno_code(ENOBUFS);
    if (const auto made = make_entries(); !made) return made.error();
  }
  const int access = remote ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0;
  ibv_mr* const region = ibv_reg_mr(pd_, memory, length, access);
  if (region == nullptr) return verbs::errno_code(errno);
  own_.push_back({.region = region, .index = index});
  if (index) {
    const auto entry = entries_->bytes().subspan(*index * kMappingSize).first<kMappingSize>();
    put_mapping({.offset = static_cast<std::uint64_t>(offset),
                 .target = {.address = reinterpret_cast<std::uintptr_t>(memory),
                            .key = region->rkey,
                            .length = static_cast<std::uint32_t>(length)}},
                peer_.order, entry);
    used_[*index] = true;
    due_.push_back(*index);
  }
  return offset;
}

verbs::Result<void> Mappings::remove(const void* memory, std::size_t length) {
  const auto own = std::find_if(own_.begin(), own_.end(), [&](const Own& each) {
    return each.region->addr == memory && each.region->length == length;
  });
  if (own == own_.end()) return verbs::errno_code(EINVAL);
  if (ibv_dereg_mr(own->region) != 0) return verbs::errno_code(EBUSY);
  // An entry whose update is due or on its way stays in use until the update is sent.
  const auto index = own->index;
  own_.erase(own);
  if (!index) return {};
  if (std::erase(due_, *index) != 0 || !is_on_its_way(*index)) used_[*index] = false;
  return {};
}

Mappings::Update Mappings::next_update() {
  const std::uint32_t index = due_.front();
  due_.erase(due_.begin());
  on_its_way_.push_back(index);
  const auto entry = entries_->bytes().subspan(index * kMappingSize, kMappingSize);
  return {.index = index,
          .entry = {.addr = reinterpret_cast<std::uintptr_t>(entry.data()),
                    .length = kMappingSize,
                    .lkey = entries_region_->lkey},
          .address = peer_.targets.address + peer_.targets.length * kTargetSize +
                     std::uint64_t{index} * kMappingSize,
          .key = peer_.targets.key};
}

void Mappings::on_updated(std::uint32_t index) {
  std::erase(on_its_way_, index);
  const bool is_mapped = std::any_of(own_.begin(), own_.end(),
                                     [index](const Own& each) { return each.index == index; });
  if (!is_mapped) used_[index] = false;
}

bool Mappings::is_on_its_way(std::uint32_t index) const {
  return std::find(on_its_way_.begin(), on_its_way_.end(), index) != on_its_way_.end();
}

bool Mappings::on_mapped(std::uint32_t index, const Mapping& mapping) {
  if (index >= of_peer_.size()) return false;
  of_peer_[index] = mapping;
  return true;
}

std::optional<Target> Mappings::find(std::uint64_t offset) const {
  for (const Mapping& each : of_peer_) {
    if (offset < each.offset || offset - each.offset >= each.target.length) continue;
    const std::uint64_t skipped = offset - each.offset;
    return Target{.address = each.target.address + skipped,
                  .key = each.target.key,
                  .length = static_cast<std::uint32_t>(each.target.length - skipped)};
  }
  return std::nullopt;
}

}  // namespace anyrdma::rsocket
