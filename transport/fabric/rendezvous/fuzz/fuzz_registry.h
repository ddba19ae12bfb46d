// The rendezvous file, kept by two members, which a stranger may write to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::transport::fabric::fuzz {

/// A script of claims of two members: answered as one host's own table answers. Returns 0; aborts
/// if not.
int fuzz_registry(const std::uint8_t* data, std::size_t size);

/// The same in a file that a stranger changes: whatever is answered, every call must end, and touch
/// nothing else.
int fuzz_registry_attack(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::transport::fabric::fuzz
