// The claim: an invalidated or deregistered key gives no access. A request that names it and was
// posted later does not succeed, unless the key is in use again.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sim/check/violations.h"

namespace anyrdma::sim::check {

/// Of all devices of a world, by their names.
class Keys {
 public:
  explicit Keys(Violations& violations) : violations_(violations) {}

  /// Names a closing of a key; 0: it is open, or its state is unknown.
  using Closing = std::uint64_t;

  void on_address(const std::string& device, const ibv_gid& gid);
  void on_opened(const std::string& device, std::uint32_t key) { closed_.erase({device, key}); }
  void on_closed(const std::string& device, std::uint32_t key);
  /// Of a key at the device that has this address.
  [[nodiscard]] Closing closing_of(const ibv_gid& gid, std::uint32_t key) const;
  /// Work that names the key has succeeded; `posted`: closing_of when it was posted.
  void on_success(const std::string& qp, const ibv_gid& gid, std::uint32_t key, Closing posted);

 private:
  using Address = std::array<std::uint8_t, sizeof(ibv_gid)>;
  [[nodiscard]] static Address address_of(const ibv_gid& gid);

  Violations& violations_;
  std::map<Address, std::string> devices_;
  std::map<std::pair<std::string, std::uint32_t>, Closing> closed_;
  Closing closings_ = 0;
};

}  // namespace anyrdma::sim::check
