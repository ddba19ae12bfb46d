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
  /// Attributes of the queue pair that get_request() creates for every new id.
  std::optional<ibv_qp_init_attr> request_qp;
  std::vector<std::uint8_t> connect_prefix;  ///< bytes that precede the private data of connect()

  /// Returns the prefix followed by `data`, both in `buffer`. Without a prefix, returns `data`
  /// itself. EINVAL: together they are longer than kPrivateDataLimit.
  [[nodiscard]] Result<std::span<const std::uint8_t>> prefixed(std::span<const std::uint8_t> data,
                                                               PrivateDataBuffer& buffer) const;
};

}  // namespace anyrdma::cm
