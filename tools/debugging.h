// `--gdb` of sim and replay: where gdb comes from, and how it connects.
#pragma once

#include <memory>
#include <string>

#include "sim/debug/cluster/cluster.h"

namespace anyrdma::tools {

/// A gdb that is there. When this is destroyed, gdb has ended if it was started here.
class Debugging {
 public:
  virtual ~Debugging() = default;
  [[nodiscard]] virtual sim::debug::Cluster& cluster() = 0;

  /// Waits for a gdb at that socket; if it is empty, starts Debian's gdb in this terminal, which
  /// lets the run go to `destination` first (empty: to its beginning). Null: why not has been said.
  [[nodiscard]] static std::unique_ptr<Debugging> begin(const std::string& socket,
                                                        const std::string& destination);
};

/// Returns the command that runs the trial of `command` again in gdb, up to its failure.
[[nodiscard]] std::string debug_command(const std::string& command);

}  // namespace anyrdma::tools
