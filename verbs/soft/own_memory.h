// Asks the operating system which memory of this process is mapped, without accessing that memory.
#pragma once

#include <cstddef>

namespace anyrdma::verbs::soft {

/// Whether all pages of a range are mapped and, if `write`, the first and the last page are
/// writable. Pinning would find out the same, but would bring the pages into memory.
[[nodiscard]] bool is_mapped(const void* address, std::size_t length, bool write);

/// Whether the range has a page that can be pinned. An empty range has one unless it begins at a
/// page boundary.
[[nodiscard]] bool has_pages(const void* address, std::size_t length);

/// Brings the pages of a range into memory, as a device does that supports on-demand paging.
/// Returns false if the range is not readable or, with `write`, not writable.
[[nodiscard]] bool bring_in(const void* address, std::size_t length, bool write);

}  // namespace anyrdma::verbs::soft
