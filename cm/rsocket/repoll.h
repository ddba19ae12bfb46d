// Sets of descriptors to wait for, as epoll(7) has them, of which some are rsockets.
#pragma once

#include <sys/epoll.h>

#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "cm/rsocket/bell.h"
#include "cm/rsocket/numbered.h"
#include "cm/rsocket/socket.h"

namespace anyrdma::rsocket {

/// One set. Level-triggered; EPOLLONESHOT works, EPOLLET and EPOLLEXCLUSIVE are refused. Threads:
/// any. Source: epoll(7).
class Repoll {
 public:
  /// Creates a set; its number is a descriptor. EINVAL: flags other than EPOLL_CLOEXEC; EMFILE.
  [[nodiscard]] static Result<std::shared_ptr<Repoll>> create(int flags);
  ~Repoll();
  Repoll(const Repoll&) = delete;
  Repoll& operator=(const Repoll&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

  /// Adds, changes or removes an entry. A wait that is under way sees it. EEXIST, ENOENT, EBADF,
  /// EINVAL.
  [[nodiscard]] Result<void> control(int operation, int fd, const epoll_event* event);
  /// Waits until an entry has an event. Returns the number of `events` that were written. EINTR;
  /// EBADF: the set was closed.
  [[nodiscard]] Result<int> wait(std::span<epoll_event> events, const Deadline& deadline);
  /// Ends all waits.
  void close();

 private:
  explicit Repoll(int fd) : fd_(fd) {}

  const int fd_;  ///< an eventfd that is readable when the set has changed
  std::mutex mutex_;
  std::map<int, epoll_event> entries_;
  int next_ = 0;  ///< the descriptor from which the next report begins, so that none starves
  bool closed_ = false;
};

/// The sets of this process, by number. Never destroyed.
[[nodiscard]] Numbered<Repoll>& repolls();

}  // namespace anyrdma::rsocket
