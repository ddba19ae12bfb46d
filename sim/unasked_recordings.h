// Recordings of worlds that have none by option: of tests, which may fail.
#pragma once

#include <cstdint>
#include <memory>

#include "recording/sink.h"

namespace anyrdma::sim {

class Recorder;

/// Is asked for each world that was given no recording of its own. Worlds may be in any thread.
class UnaskedRecordings {
 public:
  virtual ~UnaskedRecordings() = default;
  /// Where a world that is being made is recorded to. Null: it is not.
  virtual std::shared_ptr<recording::Sink> open() = 0;
  /// `recorder` records it until the recorder is ended.
  virtual void begun(const std::shared_ptr<recording::Sink>& sink, Recorder& recorder,
                     std::uint64_t seed) = 0;
  /// The last that can be said of a world, of any that is recorded. All its checkers have spoken.
  virtual void ending(Recorder& recorder) = 0;

  /// Sets the receiver for all worlds that are created from now on; it must outlive them. Null:
  /// none.
  static void install(UnaskedRecordings* recordings);
  [[nodiscard]] static UnaskedRecordings* installed();
};

}  // namespace anyrdma::sim
