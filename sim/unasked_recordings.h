// Recordings of worlds for which no recording was requested: failing tests use them.
#pragma once

#include <cstdint>
#include <memory>

#include "recording/sink.h"

namespace anyrdma::sim {

class Recorder;

/// Decides about the recording of each world whose options request none. Worlds may be created in
/// any thread.
class UnaskedRecordings {
 public:
  virtual ~UnaskedRecordings() = default;
  /// Called when a world is created. Returns where its recording goes; null: the world is not
  /// recorded.
  virtual std::shared_ptr<recording::Sink> open() = 0;
  /// `recorder` records it until the recorder is ended.
  virtual void begun(const std::shared_ptr<recording::Sink>& sink, Recorder& recorder,
                     std::uint64_t seed) = 0;
  /// Called at the end of each recorded world, after all its checkers, so that findings and a
  /// verdict can still be added.
  virtual void ending(Recorder& recorder) = 0;

  /// Sets the receiver for all worlds that are created from now on; it must outlive them. Null:
  /// none.
  static void install(UnaskedRecordings* recordings);
  [[nodiscard]] static UnaskedRecordings* installed();
};

}  // namespace anyrdma::sim
