// The places of a work queue that become free when a completion is polled.
#pragma once

#include <cstdint>

namespace anyrdma::verbs::soft {

/// What polling one completion frees: the place of its request and, on a send queue, the places of
/// the unsignaled requests before it. Empty: the place is free already.
struct FreedPlaces {
  std::uint32_t* freed = nullptr;  ///< the counter of a live queue (WorkQueue)
  std::uint32_t count = 0;

  /// Frees the places. Called once, when the completion is polled or dropped.
  void release() const {
    if (freed != nullptr) *freed += count;
  }
};

}  // namespace anyrdma::verbs::soft
