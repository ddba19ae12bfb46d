// What a fiber has that is to be as a process: what was made in its name goes when it ends.
#pragma once

#include <memory>
#include <string>

#include "transport/soft/transport.h"
#include "verbs/runtime.h"

namespace anyrdma::sim {

/// One for all fibers of a process: Host::spawn_process and what is spawned from in there. The last
/// of them to end ends it. Its devices' contexts are its own.
class Process {
 public:
  /// What somebody else keeps of a process, by the C API's ways: goes before its contexts do.
  class Belongings {
   public:
    virtual ~Belongings() = default;
    /// "2 ids, 1 event channel"; empty: nothing.
    [[nodiscard]] virtual std::string left() const = 0;
  };

  /// `loud`: what it leaves behind is reported as a mistake (verbs/misuse.h). The others outlive
  /// it.
  Process(std::string name, transport::soft::SoftTransport& transport, bool loud);
  /// As a kernel ends a process: nobody waits for anything, peers hear what the CM says.
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
