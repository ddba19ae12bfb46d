// Settings of rdma_create_ep that an id uses later. Internal to cm.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "verbs/result.h"

namespace anyrdma::cm {

using verbs::Result;

/// The largest value of rdma_conn_param::private_data_len, in bytes.
inline constexpr std::size_t kPrivateDataLimit = 255;
using PrivateDataBuffer = std::array<std::uint8_t, kPrivateDataLimit>;

struct EpSettings {
  std::optional<ibv_qp_init_attr> request_qp;  ///< of every id that get_request() returns
  std::vector<std::uint8_t> connect_prefix;    ///< precedes connect()'s private data

  /// Returns prefix and `data` together, in `buffer`, or `data` itself if there is no prefix.
  /// EINVAL: more than kPrivateDataLimit bytes together.
  [[nodiscard]] Result<std::span<const std::uint8_t>> prefixed(std::span<const std::uint8_t> data,
                                                               PrivateDataBuffer& buffer) const;
};

}  // namespace anyrdma::cm
