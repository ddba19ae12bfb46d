// A thread that works for streams while the program calls nothing.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <vector>

#include "cm/rsocket/socket.h"

namespace anyrdma::rsocket {

class Bell;
class Stream;

/// The work that a stream needs from the service thread.
struct Care {
  bool watched = false;  ///< the thread must look again when something happens to the stream
  Deadline next;         ///< when the thread must look again at the latest; nothing: never
  [[nodiscard]] bool any() const { return watched || next.has_value(); }
};

/// One thread of a process. It accepts connection requests for listeners, carries on connections of
/// non-blocking sockets, and sends keepalive messages. It begins with the first stream that needs
/// it, and never ends. Any thread may call the functions. Source: rsocket(7); rdma-core has such
/// threads, too.
class Service {
 public:
  /// The service of this process. A child of fork() has a new one, without streams.
  [[nodiscard]] static Service& own();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Looks at the stream soon, and for as long as it wants (Stream::serve). Without memory for a
  /// thread, the program's calls make all progress.
  void care_for(const std::shared_ptr<Stream>& stream);

 private:
  Service();
  void run();
  /// The streams that still exist.
  [[nodiscard]] std::vector<std::shared_ptr<Stream>> streams();
  void leave(const std::shared_ptr<Stream>& stream);
  void look_and_sleep(Bell& bell);

  const ::pid_t process_;
  std::mutex mutex_;
  bool started_ = false;
  Bell* bell_ = nullptr;  ///< of the thread, as soon as it runs
  bool changed_ = false;  ///< a stream was added since the thread has last taken the list
  std::vector<std::weak_ptr<Stream>> streams_;
};

}  // namespace anyrdma::rsocket
