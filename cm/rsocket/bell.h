// Wakes a thread that waits in poll(2).
#pragma once

namespace anyrdma::rsocket {

/// An eventfd of one thread. Another thread that has processed the event of a socket rings the bell
/// of each thread that waits for that socket, as the event's descriptor is no longer readable then.
class Bell {
 public:
  /// The bell of this thread. It is made anew in a child of fork(), which would share it otherwise.
  [[nodiscard]] static Bell& own();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;
  ~Bell();

  void ring();
  /// Makes the bell silent.
  void hush();
  /// -1: there are no more descriptors; then the thread must not sleep for ever.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  Bell();
  int fd_;
  int process_;
};

}  // namespace anyrdma::rsocket
