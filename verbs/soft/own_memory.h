// Asks the operating system about this process's memory, without accessing that memory.
#pragma once

#include <cstddef>

namespace anyrdma::verbs::soft {

/// Whether all pages of a range are mapped, and the first and the last are writable if `write`.
/// This is what pinning would find out, without bringing pages into memory.
[[nodiscard]] bool is_mapped(const void* address, std::size_t length, bool write);

/// Whether the range has a page that can be pinned. An empty range has one, unless it begins at a
/// page boundary.
[[nodiscard]] bool has_pages(const void* address, std::size_t length);

/// Brings the pages of a range into memory, as a device's page fault would. False: the range is not
/// readable, or not writable.
[[nodiscard]] bool bring_in(const void* address, std::size_t length, bool write);

}  // namespace anyrdma::verbs::soft
