// The process of a group of fibers: its objects are freed when it ends.
#pragma once

#include <memory>
#include <string>

#include "transport/soft/transport.h"
#include "verbs/runtime.h"

namespace anyrdma::sim {

/// A process of fibers: Host::spawn_process starts the first one, and each fiber that it spawns
/// belongs to the process. The process ends with its last fiber. Its devices have contexts of their
/// own.
class Process {
 public:
  /// Data of a process that another module keeps for the C API: destroyed before the process's
  /// contexts.
  class Belongings {
   public:
    virtual ~Belongings() = default;
    /// "2 ids, 1 event channel"; empty: nothing.
    [[nodiscard]] virtual std::string left() const = 0;
  };

  /// `loud`: what it leaves behind is reported as a mistake (verbs/misuse.h). The others outlive
  /// it.
  Process(std::string name, transport::soft::SoftTransport& transport, bool loud);
  /// Ends the process as a kernel does: waits for nothing, and sends the CM's messages to peers.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::unique_ptr<Belongings>& belongings() { return belongings_; }

 private:
  std::string name_;
  transport::soft::SoftTransport& transport_;
  bool loud_;
  std::unique_ptr<Belongings> belongings_;
};

}  // namespace anyrdma::sim
