#include "cm/rsocket/repoll.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "cm/rsocket/sockets.h"
#include "cm/rsocket/waiting.h"

namespace anyrdma::rsocket {
namespace {

static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLPRI == POLLPRI);
static_assert(EPOLLERR == POLLERR && EPOLLHUP == POLLHUP && EPOLLRDHUP == POLLRDHUP);

constexpr std::uint32_t kEvents =
    EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLRDNORM | EPOLLWRNORM | EPOLLERR | EPOLLHUP;

void change(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto done = ::write(fd, &one, sizeof one);
}

}  // namespace

Numbered<Repoll>& repolls() {
  static auto* const all = new Numbered<Repoll>;
  return *all;
}

Result<std::shared_ptr<Repoll>> Repoll::create(int flags) {
  if ((flags & ~EPOLL_CLOEXEC) != 0) return errno_code(EINVAL);
  const int fd = ::eventfd(0, EFD_NONBLOCK | (flags != 0 ? EFD_CLOEXEC : 0));
  if (fd < 0) return errno_code(errno);
  return std::shared_ptr<Repoll>(new Repoll(fd));
}

Repoll::~Repoll() {
  ::close(fd_);
}

void Repoll::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  change(fd_);
}

Result<void> Repoll::control(int operation, int fd, const epoll_event* event) {
  if (fd == fd_) return errno_code(EINVAL);
  if (sockets().find(fd) == nullptr && ::fcntl(fd, F_GETFD) < 0) return errno_code(EBADF);
  if (operation != EPOLL_CTL_DEL) {
    if (event == nullptr) return errno_code(EFAULT);
    if ((event->events & (EPOLLET | EPOLLEXCLUSIVE)) != 0) return errno_code(EINVAL);
  }
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(fd);
  switch (operation) {
    case EPOLL_CTL_ADD:
      if (entry != entries_.end()) return errno_code(EEXIST);
      entries_.emplace(fd, *event);
      break;
    case EPOLL_CTL_MOD:
      if (entry == entries_.end()) return errno_code(ENOENT);
      entry->second = *event;
      break;
    case EPOLL_CTL_DEL:
      if (entry == entries_.end()) return errno_code(ENOENT);
      entries_.erase(entry);
      break;
    default:
      return errno_code(EINVAL);
  }
  change(fd_);
  return {};
}

Result<int> Repoll::wait(std::span<epoll_event> events, const Deadline& deadline) {
  for (;;) {
    // The first entry is the set itself: another thread may change it meanwhile.
    std::vector<pollfd> entries{{.fd = fd_, .events = POLLIN, .revents = 0}};
    std::vector<std::shared_ptr<Socket>> those{nullptr};
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return errno_code(EBADF);
      std::uint64_t changes = 0;
      [[maybe_unused]] const auto taken = ::read(fd_, &changes, sizeof changes);
      const auto add = [&](const auto& entry) {
        const std::uint32_t wanted = entry.second.events & kEvents;
        if (wanted == 0) return;
        entries.push_back({.fd = entry.first, .events = static_cast<short>(wanted), .revents = 0});
        those.push_back(sockets().find(entry.first));
      };
      const auto first = entries_.lower_bound(next_);
      std::for_each(first, entries_.end(), add);
      std::for_each(entries_.begin(), first, add);
    }
    const auto count = poll_all(entries, those, deadline);
    if (!count) return count.error();
    int written = 0;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (entries[i].revents == 0) continue;
      const auto entry = entries_.find(entries[i].fd);
      if (entry == entries_.end()) continue;
      const auto now = static_cast<std::uint16_t>(entries[i].revents) &
                       (entry->second.events | EPOLLERR | EPOLLHUP);
      if (now == 0) continue;
      if (static_cast<std::size_t>(written) == events.size()) break;
      events[static_cast<std::size_t>(written++)] = {.events = now, .data = entry->second.data};
      if ((entry->second.events & EPOLLONESHOT) != 0) entry->second.events = 0;
      next_ = entries[i].fd + 1;
    }
    if (written != 0 || *count == 0) return written;
  }
}

}  // namespace anyrdma::rsocket
