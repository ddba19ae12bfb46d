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

  /// Waits for a gdb at that socket; if it is empty, starts Debian's gdb in this terminal. Null:
  /// why not has been said.
  [[nodiscard]] static std::unique_ptr<Debugging> begin(const std::string& socket);
};

}  // namespace anyrdma::tools
