#include "verbs/soft/ownership/region_history.h"

#include <algorithm>

namespace anyrdma::verbs::soft {

LiveRegion& RegionHistory::on_opened(std::uint32_t key, std::size_t length,
                                     const Runtime::Mark& mark) {
  LiveRegion& region = live_[key];
  region.about = {.key = key, .length = length, .began = mark};
  return region;
}

LiveRegion* RegionHistory::find_live(std::uint32_t key) {
  const auto found = live_.find(key);
  return found == live_.end() ? nullptr : &found->second;
}

void RegionHistory::for_each_live(const std::function<void(LiveRegion&)>& look) {
  for (auto& [key, region] : live_) look(region);
}

void RegionHistory::on_ended(std::uint32_t key, std::string_view call, const Runtime::Mark& mark) {
  const auto found = live_.find(key);
  if (found == live_.end()) return;
  PastRegion& past = ended_.emplace_back(found->second.about);
  past.ended = mark;
  past.call = call;
  live_.erase(found);
  if (ended_.size() > kMost) ended_.pop_front();
}

const PastRegion* RegionHistory::find_ended(std::uint32_t key) const {
  if (live_.contains(key)) return nullptr;
  const auto found = std::find_if(ended_.rbegin(), ended_.rend(),
                                  [key](const PastRegion& each) { return each.key == key; });
  return found == ended_.rend() ? nullptr : &*found;
}

}  // namespace anyrdma::verbs::soft
