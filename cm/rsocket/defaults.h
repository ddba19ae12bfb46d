// The sizes of streams that the administrator has set.
#pragma once

#include <filesystem>

#include "cm/rsocket/connection.h"

namespace anyrdma::rsocket {

/// Limits of sizes. Buffers in bytes, queues in work requests.
inline constexpr std::uint32_t kLeastQueue = 16;
inline constexpr std::uint32_t kLargestQueue = 0xfffe;  ///< sequence numbers have 16 bits
[[nodiscard]] std::uint32_t fitting_buffer(std::uint64_t bytes);
[[nodiscard]] std::uint32_t fitting_queue(std::uint64_t requests);

/// Reads the files `mem_default`, `wmem_default`, `sqsize_default`, `rqsize_default`,
/// `inline_default` and `iomap_size` in `folder`, each with one number. A file that is missing, or
/// that does not begin with a number, leaves the default of rdma-core. Source: rsocket(7).
[[nodiscard]] Settings settings_in(const std::filesystem::path& folder);
/// The settings in /etc/rdma/rsocket, read once.
[[nodiscard]] const Settings& default_settings();

}  // namespace anyrdma::rsocket
