// Processes of a test.
#pragma once

#include <sys/types.h>

#include <functional>

namespace anyrdma::transport::realtime::testing {

/// A child process that runs `body` and exits with what it returns, without gtest or destructors of
/// the parent. Two pipes carry single bytes. Killed, if need be, and reaped at the end.
class Child {
 public:
  /// The child's end of the pipes.
  class Line {
   public:
    Line(int in, int out) : in_(in), out_(out) {}
    void send(char byte) const;
    /// Waits for a byte; 0 when the other end is gone.
    [[nodiscard]] char receive() const;

   private:
    int in_;
    int out_;
  };

  explicit Child(const std::function<int(const Line&)>& body);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void send(char byte) const { line_.send(byte); }
  [[nodiscard]] char receive() const { return line_.receive(); }
  /// SIGKILL, and waits until it is gone.
  void kill();
  /// SIGSTOP, and waits until that has happened; SIGCONT.
  void stop();
  void go_on();
  /// Waits until the child has stopped itself; false: it has ended.
  [[nodiscard]] bool has_stopped() const;
  /// Waits for its end; exit code, or 128 + signal.
  int wait();

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  Line line_{-1, -1};
};

}  // namespace anyrdma::transport::realtime::testing
