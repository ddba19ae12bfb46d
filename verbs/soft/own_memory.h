// What the operating system says about this process's own memory, without touching it.
#pragma once

#include <cstddef>

namespace anyrdma::verbs::soft {

/// Whether the process has memory everywhere in a range, and may write at both of its ends if
/// `write`: what pinning would find out, without bringing all of it in.
[[nodiscard]] bool is_mapped(const void* address, std::size_t length, bool write);

/// Brings a range in, as a page fault of a device would. False: it cannot be read, or written.
[[nodiscard]] bool bring_in(const void* address, std::size_t length, bool write);

}  // namespace anyrdma::verbs::soft
