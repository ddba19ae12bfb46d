// Observers of simulated worlds, such as the checkers of tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "recording/entry.h"

namespace anyrdma::sim {

class World;

/// An observer of one world, such as the checkers. A monitor reads the entries (recorded events,
/// recording/format.h) of the world, and must not call the world.
class Monitor : public recording::EntryReader {
 public:
  /// Called when a device has found that a program uses memory or queues wrongly. `line`: "source:
  /// client/main: ..." (docs/checkers.md).
  virtual void on_mistake(const std::string& /*line*/) {}
  /// The violations so far, a sentence each.
  [[nodiscard]] virtual std::vector<std::string> violations() const { return {}; }
  /// Called when the world is about to be destroyed: its programs have ended, and all other objects
  /// still exist.
  virtual void on_end(World& world) = 0;

  /// Sets the function that creates a monitor for every world created from now on, in any thread.
  /// Null, the default: no monitors, at no cost.
  using Factory = std::unique_ptr<Monitor> (*)();
  static void install(Factory factory);
  /// Null unless installed.
  [[nodiscard]] static std::unique_ptr<Monitor> make();
};

}  // namespace anyrdma::sim
