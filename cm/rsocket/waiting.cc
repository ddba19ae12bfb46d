#include "cm/rsocket/waiting.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cm/rsocket/bell.h"

namespace anyrdma::rsocket {
namespace {

using Clock = std::chrono::steady_clock;

bool is_over(const Deadline& deadline) {
  return deadline.has_value() && Clock::now() >= *deadline;
}

/// Sleeps until a descriptor is readable. 0: the deadline has come. EINTR.
Result<int> sleep_on(std::span<pollfd> descriptors, const Deadline& deadline) {
  const int count = ::poll(descriptors.data(), descriptors.size(), milliseconds_until(deadline));
  if (count < 0) return errno_code(errno);
  return count;
}

/// The bell of this thread at several sockets, until the end of the scope.
class Ears {
 public:
  explicit Ears(std::span<const std::shared_ptr<Socket>> sockets) : sockets_(sockets) {}
  ~Ears() {
    for (std::size_t i = 0; i < armed_; ++i) {
      if (sockets_[i] != nullptr) sockets_[i]->disarm(bell_);
    }
    bell_.hush();
  }
  Ears(const Ears&) = delete;
  Ears& operator=(const Ears&) = delete;
  void arm() {
    while (armed_ < sockets_.size()) {
      const auto& socket = sockets_[armed_++];
      if (socket != nullptr) socket->arm(bell_);
    }
  }
  [[nodiscard]] int fd() const { return bell_.fd(); }

 private:
  std::span<const std::shared_ptr<Socket>> sockets_;
  std::size_t armed_ = 0;
  Bell& bell_ = Bell::own();
};

}  // namespace

int milliseconds_until(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, 1'000'000'000));
}

Deadline deadline_in(int milliseconds) {
  if (milliseconds < 0) return std::nullopt;
  return Clock::now() + std::chrono::milliseconds(milliseconds);
}

// --- one socket ----------------------------------------------------------------------------------

short Socket::ready(short events) {
  const Lock lock(mutex_);
  if (closed_) return POLLNVAL;
  if (process()) wake();
  return state(events);
}

void Socket::add_descriptors(std::vector<pollfd>& all) {
  const Lock lock(mutex_);
  if (!closed_) descriptors(all);
}

void Socket::arm(Bell& bell) {
  const Lock lock(mutex_);
  waiting_.push_back(&bell);
  if (!closed_ && request_notifications()) wake(&bell);
}

void Socket::disarm(Bell& bell) {
  const Lock lock(mutex_);
  stop_waiting(bell);
}

void Socket::stop_waiting(Bell& bell) {
  const auto own = std::find(waiting_.begin(), waiting_.end(), &bell);
  if (own != waiting_.end()) waiting_.erase(own);
  if (closed_) return;
  // Another thread that sleeps no longer sees what this one takes, and nothing is requested then.
  const bool taken = take_notifications();
  if (process() || taken) wake(&bell);
}

void Socket::wake(const Bell* own) {
  for (Bell* bell : waiting_) {
    if (bell != own) bell->ring();
  }
}

// The lock is held from the look at the condition until the bell is registered: another thread may
// process what this one waits for as soon as the lock is free.
Result<void> Socket::wait(Lock& lock, bool may_wait, const Deadline& deadline,
                          const std::function<bool()>& condition) {
  for (bool late = false;;) {
    if (closed_) return errno_code(EBADF);
    if (process()) wake();
    if (condition()) return {};
    if (!may_wait) return errno_code(EAGAIN);
    if (late) return errno_code(ETIMEDOUT);
    Bell& bell = Bell::own();
    if (request_notifications()) {
      wake();
      continue;
    }
    std::vector<pollfd> all{{.fd = bell.fd(), .events = POLLIN, .revents = 0}};
    descriptors(all);
    waiting_.push_back(&bell);
    lock.unlock();
    const auto slept = sleep_on(all, deadline);
    lock.lock();
    stop_waiting(bell);
    bell.hush();
    if (!slept) return slept.error();
    late = *slept == 0 && is_over(deadline);
  }
}

// --- several -------------------------------------------------------------------------------------

namespace {

/// Sets `revents` of all entries without waiting; returns how many have some.
Result<int> look_at_all(std::span<pollfd> entries,
                        std::span<const std::shared_ptr<Socket>> sockets) {
  int count = 0;
  std::vector<pollfd> others;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].revents = 0;
    if (sockets[i] != nullptr) {
      entries[i].revents = sockets[i]->ready(entries[i].events);
      if (entries[i].revents != 0) ++count;
    } else if (entries[i].fd >= 0) {
      others.push_back(entries[i]);
    }
  }
  if (others.empty()) return count;
  const int found = ::poll(others.data(), others.size(), 0);
  if (found < 0) return errno_code(errno);
  auto other = others.begin();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (sockets[i] == nullptr && entries[i].fd >= 0) entries[i].revents = (other++)->revents;
  }
  return count + found;
}

/// What a thread sleeps on: all descriptors of the sockets, and all other entries.
std::vector<pollfd> sleeping_places(std::span<const pollfd> entries,
                                    std::span<const std::shared_ptr<Socket>> sockets, int bell) {
  std::vector<pollfd> all{{.fd = bell, .events = POLLIN, .revents = 0}};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (sockets[i] != nullptr) {
      sockets[i]->add_descriptors(all);
    } else if (entries[i].fd >= 0) {
      all.push_back(entries[i]);
    }
  }
  return all;
}

}  // namespace

Result<int> poll_all(std::span<pollfd> entries, std::span<const std::shared_ptr<Socket>> sockets,
                     const Deadline& deadline) {
  for (;;) {
    const auto count = look_at_all(entries, sockets);
    if (!count || *count != 0 || is_over(deadline)) return count;
    // Once more with the bell at each socket: another thread may have processed what this one waits
    // for.
    Ears ears(sockets);
    ears.arm();
    const auto again = look_at_all(entries, sockets);
    if (!again || *again != 0) return again;
    auto all = sleeping_places(entries, sockets, ears.fd());
    const auto woken = sleep_on(all, deadline);
    if (!woken) return woken.error();
  }
}

}  // namespace anyrdma::rsocket
