// Reads the stack of a thread of another process from outside, for reports of hangs.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct Dwfl;

namespace anyrdma::sim::stacks {

/// Reads the stacks of a stopped process; files that it maps later are not known. The constructor
/// reads symbol tables of the mapped files, which takes some milliseconds, and contacts no debug
/// server on the network.
class Unwinder {
 public:
  /// Precondition: the calling thread traces (ptrace) all threads of the process, and all of them
  /// have stopped.
  explicit Unwinder(pid_t pid);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  /// Returns the frames of a thread, the innermost first: "sem_wait+0x61 (libc.so.6)"; with debug
  /// information "serve+0x2c (server) server.cc:81"; without symbols "0x1234 (server)", the offset
  /// in the file. Empty: the stack cannot be read.
  [[nodiscard]] std::vector<std::string> frames(pid_t tid, std::size_t at_most = 40) const;
  /// Returns the text of one frame, as frames() does, for a return address that the process has
  /// stored.
  [[nodiscard]] std::string frame(std::uintptr_t address) const;

 private:
  struct End {
    void operator()(Dwfl* session) const;
  };
  std::unique_ptr<Dwfl, End> session_;
  bool attached_ = false;
};

}  // namespace anyrdma::sim::stacks
