// A fabric of a test's own.
#pragma once

#include <string>

#include "transport/fabric/rendezvous/config.h"

namespace anyrdma::transport::fabric::testing {

/// A directory of its own for a rendezvous file; removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const FabricConfig& config() const { return config_; }
  /// Where the members of its fabrics meet, and the rendezvous file of one.
  [[nodiscard]] std::string place() const;
  [[nodiscard]] std::string file(const std::string& name = "test") const;
  /// Whether anything is there.
  [[nodiscard]] bool exists() const;

 private:
  FabricConfig config_;
};

}  // namespace anyrdma::transport::fabric::testing
