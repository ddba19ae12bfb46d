// Queries the operating system about this process's memory, without touching it.
#pragma once

#include <cstddef>

namespace anyrdma::verbs::soft {

/// Whether the process has memory everywhere in a range, and may write at both of its ends if
/// `write`: what pinning would find out, without bringing all of it in.
[[nodiscard]] bool is_mapped(const void* address, std::size_t length, bool write);

/// Whether there is a page to pin: a range without bytes has one unless it begins on a page's edge.
[[nodiscard]] bool has_pages(const void* address, std::size_t length);

/// Brings a range in, as a page fault of a device would. False: it cannot be read, or written.
[[nodiscard]] bool bring_in(const void* address, std::size_t length, bool write);

}  // namespace anyrdma::verbs::soft
