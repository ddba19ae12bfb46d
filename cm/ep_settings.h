// What rdma_create_ep leaves with an id for later. Internal to cm.
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

/// How many bytes rdma_conn_param::private_data_len can say.
inline constexpr std::size_t kPrivateDataLimit = 255;
using PrivateDataBuffer = std::array<std::uint8_t, kPrivateDataLimit>;

struct EpSettings {
  std::optional<ibv_qp_init_attr> request_qp;  ///< of every id that get_request() gives
  std::vector<std::uint8_t> connect_prefix;    ///< stands before connect()'s private data

  /// Prefix and `data` in one, in `buffer`; `data` itself when there is no prefix. EINVAL: more
  /// than kPrivateDataLimit together.
  [[nodiscard]] Result<std::span<const std::uint8_t>> prefixed(std::span<const std::uint8_t> data,
                                                               PrivateDataBuffer& buffer) const;
};

}  // namespace anyrdma::cm
