// The LIDs of a network whose ports are listed.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "verbs/soft/hca.h"
#include "verbs/wire/gid.h"

namespace anyrdma::verbs::soft {

/// Gives LID 1 to the first GID of the list, LID 2 to the second one, and so on.
class LidList final : public LidTable {
 public:
  LidList() = default;
  explicit LidList(std::vector<ibv_gid> gids) : gids_(std::move(gids)) {}

  void add(const ibv_gid& gid) { gids_.push_back(gid); }
  [[nodiscard]] const std::vector<ibv_gid>& gids() const { return gids_; }
  [[nodiscard]] std::optional<ibv_gid> gid_of(std::uint16_t lid) const override {
    if (lid == 0 || lid > gids_.size()) return std::nullopt;
    return gids_[lid - 1U];
  }
  [[nodiscard]] std::uint16_t lid_of(const ibv_gid& gid) const override {
    for (std::size_t i = 0; i < gids_.size(); ++i) {
      if (wire::same(gids_[i], gid)) return static_cast<std::uint16_t>(i + 1);
    }
    return 0;
  }

 private:
  std::vector<ibv_gid> gids_;
};

}  // namespace anyrdma::verbs::soft
