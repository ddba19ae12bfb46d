// Observers of simulated worlds, such as the checkers of tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recording/entry.h"

namespace anyrdma::sim {

class World;

/// One per world. It reads the entries of the world (recording/format.h) and must not call back.
class Monitor : public recording::EntryReader {
 public:
  /// A device has found a mistake of a program: "source: client/main: ..." (docs/checkers.md).
  virtual void on_mistake(const std::string& /*line*/) {}
  /// The violations so far, a sentence each.
  [[nodiscard]] virtual std::vector<std::string> violations() const { return {}; }
  /// The world is about to be destroyed: its programs have ended, everything else still exists.
  virtual void on_end(World& world) = 0;

  /// Every world made from now on, in any thread, gets a monitor of its own; null: none, as without
  /// this call. Costs nothing then.
  using Factory = std::unique_ptr<Monitor> (*)();
  static void install(Factory factory);
  /// Null unless installed.
  [[nodiscard]] static std::unique_ptr<Monitor> make();
};

}  // namespace anyrdma::sim
