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

/// One process in its current state; later mappings are not known. Construction reads tables of the
/// files that the process has mapped, which takes some milliseconds and uses no debug server on the
/// network.
class Unwinder {
 public:
  /// The calling thread traces all threads of the process, and all of them have stopped.
  explicit Unwinder(pid_t pid);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  /// The innermost one first: "sem_wait+0x61 (libc.so.6)", and with debug information
  /// "serve+0x2c (server) server.cc:81"; "0x1234 (server)" counts from the beginning of a file in
  /// which nothing has a name there. Empty: it cannot be read.
  [[nodiscard]] std::vector<std::string> frames(pid_t tid, std::size_t at_most = 40) const;
  /// The same of one return address, which the process has noted before.
  [[nodiscard]] std::string frame(std::uintptr_t address) const;

 private:
  struct End {
    void operator()(Dwfl* session) const;
  };
  std::unique_ptr<Dwfl, End> session_;
  bool attached_ = false;
};

}  // namespace anyrdma::sim::stacks
