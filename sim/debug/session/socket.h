// A Unix socket at which a debugger connects.
#pragma once

#include <memory>
#include <string>

#include "sim/debug/session/connection.h"
#include "transport/realtime/descriptor.h"
#include "verbs/result.h"

namespace anyrdma::sim::debug {

/// Its file is there until somebody has connected: one does.
class ListeningSocket {
 public:
  /// EEXIST: there is such a file. ENAMETOOLONG.
  [[nodiscard]] static verbs::Result<ListeningSocket> create(const std::string& path);
  ListeningSocket(ListeningSocket&&) = default;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  /// Waits for the debugger. Null: `gives_up` said so, which is asked several times a second. The
  /// connection asks it, too, while it waits for the debugger: its peer is then as good as gone.
  [[nodiscard]] std::unique_ptr<Connection> accept(bool (*gives_up)());

 private:
  ListeningSocket(std::string path, transport::realtime::Descriptor socket)
      : path_(std::move(path)), socket_(std::move(socket)) {}

  std::string path_;
  transport::realtime::Descriptor socket_;
};

}  // namespace anyrdma::sim::debug
