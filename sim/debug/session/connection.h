// The debugger's end of the line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace anyrdma::sim::debug {

/// A stream of bytes.
class Connection {
 public:
  virtual ~Connection() = default;
  /// False: the peer is gone.
  [[nodiscard]] virtual bool send(std::string_view bytes) = 0;
  /// Waits for some. nullopt: the peer is gone.
  [[nodiscard]] virtual std::optional<std::string> receive() = 0;
  /// Like the function above, but does not wait: empty if there are none.
  [[nodiscard]] virtual std::optional<std::string> receive_now() = 0;
};

}  // namespace anyrdma::sim::debug
