// A process that consists of fibers. Its RDMA objects are freed when it ends.
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
  /// Data that another module stores for a process of fibers, for the C API. Destroyed before the
  /// verbs contexts of the process.
  class Belongings {
   public:
    virtual ~Belongings() = default;
    /// "2 ids, 1 event channel"; empty: nothing.
    [[nodiscard]] virtual std::string left() const = 0;
  };

  /// `loud`: objects that the process has not destroyed when it ends are reported as a mistake
  /// (verbs/misuse.h). `transport` must outlive the process.
  Process(std::string name, transport::soft::SoftTransport& transport, bool loud);
  /// Ends the process as a kernel does: waits for nothing, and sends the CM's messages (DREQ or
  /// REJ) to the peers.
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
