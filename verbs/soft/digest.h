// A hash of the bytes that a gather list names, to notice that they have changed.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "verbs/soft/memory_table.h"

namespace anyrdma::verbs::soft {

/// Up to this many bytes each byte counts; of longer messages 64 blocks of 1 KiB do.
inline constexpr std::uint64_t kDigestWholeBytes = 65536;

/// A hash of the first `length` bytes of a message. nullopt: not all of them can be read. Bytes of
/// null regions do not count.
[[nodiscard]] std::optional<std::uint64_t> digest_of(const MemoryTable& memory, const ibv_pd* pd,
                                                     std::span<const ibv_sge> list,
                                                     std::uint64_t length);

}  // namespace anyrdma::verbs::soft
