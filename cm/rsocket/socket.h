// What all rsockets have in common: a lock, the options that every type stores, and threads that
// wait for a change.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "cm/rsocket/name.h"
#include "verbs/result.h"

namespace anyrdma::rsocket {

using verbs::errno_code;
using verbs::Result;

class Bell;

/// When a wait ends; nothing: never.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// One rsocket. Any thread may call any function at any time. Functions that wait return EAGAIN
/// instead if the socket is non-blocking, EINTR for a signal, and EBADF if another thread closes
/// the socket.
class Socket {
 public:
  virtual ~Socket() = default;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// The number by which the program knows the socket: a descriptor that the socket owns.
  [[nodiscard]] virtual int fd() const = 0;

  // Calls of the program. The default is EOPNOTSUPP.
  [[nodiscard]] virtual Result<void> bind(const sockaddr* address, socklen_t length) = 0;
  [[nodiscard]] virtual Result<void> listen(int backlog);
  [[nodiscard]] virtual Result<std::shared_ptr<Socket>> accept();
  [[nodiscard]] virtual Result<void> connect(const sockaddr* address, socklen_t length) = 0;
  [[nodiscard]] virtual Result<void> shutdown(int how) = 0;
  /// Ends the socket. It can no longer be used.
  virtual void close() = 0;
  [[nodiscard]] virtual Result<std::size_t> send(std::span<const iovec> data, int flags,
                                                 const Name* to) = 0;
  [[nodiscard]] virtual Result<std::size_t> receive(std::span<const iovec> into, int flags,
                                                    Name* from) = 0;
  [[nodiscard]] virtual Result<Name> own_name() = 0;
  [[nodiscard]] virtual Result<Name> peer_name() = 0;
  [[nodiscard]] virtual Result<void> set_option(int level, int name,
                                                std::span<const std::byte> value) = 0;
  /// Writes at most `value.size()` bytes, and returns their number.
  [[nodiscard]] virtual Result<std::size_t> option(int level, int name,
                                                   std::span<std::byte> value) = 0;
  [[nodiscard]] virtual Result<::off_t> map(void* memory, std::size_t length, int protection,
                                            int flags, ::off_t offset);
  [[nodiscard]] virtual Result<void> unmap(void* memory, std::size_t length);
  [[nodiscard]] virtual Result<std::size_t> write_mapped(std::span<const std::byte> data,
                                                         ::off_t offset, int flags);

  /// F_GETFL and F_SETFL. Only O_NONBLOCK has an effect.
  [[nodiscard]] int status_flags() const;
  void set_status_flags(int flags);

  // --- waiting (waiting.cc) ----------------------------------------------------------------------

  /// Processes what has happened, and returns which of `events`, POLLERR and POLLHUP are true now.
  [[nodiscard]] short ready(short events);
  /// Adds the descriptors that become readable when something happens, after arm().
  void add_descriptors(std::vector<pollfd>& descriptors);
  /// Prepares a wait: from now on the thread's bell rings when another thread has processed
  /// something. The caller must look once more before it sleeps.
  void arm(Bell& bell);
  /// Ends a wait.
  void disarm(Bell& bell);

 protected:
  Socket() = default;
  using Lock = std::unique_lock<std::mutex>;

  // For the derived class; the lock is held.
  /// Processes what has happened. True: there was something.
  virtual bool process() = 0;
  [[nodiscard]] virtual short state(short events) const = 0;
  virtual void descriptors(std::vector<pollfd>& descriptors) const = 0;
  /// Requests notifications. True: something has happened in the meantime.
  virtual bool request_notifications() = 0;
  /// True: there were some. Then nothing is requested any more.
  virtual bool take_notifications() = 0;

  /// Waits until `condition` is true. Processes before each look at it. The lock is released while
  /// the thread sleeps. EAGAIN if `may_wait` is false, ETIMEDOUT, EINTR, EBADF.
  [[nodiscard]] Result<void> wait(Lock& lock, bool may_wait, const Deadline& deadline,
                                  const std::function<bool()>& condition);
  /// Wakes the threads that wait, except the one whose bell is `own`.
  void wake(const Bell* own = nullptr);
  [[nodiscard]] bool may_wait(int flags) const;

  mutable std::mutex mutex_;
  int status_flags_ = 0;
  bool closed_ = false;

 private:
  void stop_waiting(Bell& bell);

  std::vector<Bell*> waiting_;
};

}  // namespace anyrdma::rsocket
