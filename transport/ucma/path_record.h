// Converts the path that an application sets to the path record that the kernel uses.
#pragma once

#include <infiniband/sa.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <span>

namespace anyrdma::transport::ucma {

/// Returns the record that the kernel chooses from the value of RDMA_OPTION_IB_PATH
/// (ibv_path_data). Nothing: the value has no suitable record.
[[nodiscard]] std::optional<ibv_sa_path_rec> path_record(std::span<const std::uint8_t> value);

}  // namespace anyrdma::transport::ucma
