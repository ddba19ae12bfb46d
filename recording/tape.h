// Keeps a recording in memory while the run goes on, for a reader that looks at the recording
// before the run is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "recording/sink.h"

namespace anyrdma::recording {

/// A sink in memory whose bytes can be read at any time. The recording may be written to another
/// sink, too. Not thread-safe.
class Tape final : public Sink {
 public:
  /// `other` gets the same bytes; null: no other sink.
  explicit Tape(std::unique_ptr<Sink> other = nullptr) : other_(std::move(other)) {}
  [[nodiscard]] std::span<std::uint8_t> window(std::size_t used) override;
  void finish(std::size_t used) override;
  /// Returns the recording so far. Before finish(), zeros may follow the last entry, as in an
  /// unfinished file; a Reader stops there.
  [[nodiscard]] std::vector<std::uint8_t> bytes() const;

 private:
  void keep(std::size_t used);

  std::unique_ptr<Sink> other_;
  std::vector<std::uint8_t> kept_;  ///< of earlier windows
  std::vector<std::uint8_t> own_;   ///< the window, if there is no other sink
  std::span<std::uint8_t> window_{};
};

}  // namespace anyrdma::recording
