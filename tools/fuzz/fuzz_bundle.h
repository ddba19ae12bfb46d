// Any bytes as an archive of --bundle, and as the list in it: no name leads out of the directory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyrdma::tools::fuzz {

/// Always 0; aborts when a claim does not hold.
int fuzz_bundle(const std::uint8_t* data, std::size_t size);

}  // namespace anyrdma::tools::fuzz
