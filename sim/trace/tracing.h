// How much of a run the trace keeps.
#pragma once

#include <cstdint>

namespace anyrdma::sim {

/// How much of a run is recorded.
enum class Tracing : std::uint8_t {
  kOff,   ///< nothing; costs nothing
  kHash,  ///< only the hash
  kKeep,  ///< the hash, and all records, which Trace::text() prints
};

}  // namespace anyrdma::sim
