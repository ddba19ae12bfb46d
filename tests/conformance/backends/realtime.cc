#include "tests/conformance/backends/realtime.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>

namespace anyrdma::conformance {
namespace {

/// Most of what is waited for comes at once. Of what takes long, a dozen performances wait side by
/// side, and an emulated machine would do little else than look: so a sixteenth of the time waited.
int pause_ms_after(Duration waited) {
  const auto sixteenth = std::chrono::duration_cast<std::chrono::milliseconds>(waited / 16);
  return static_cast<int>(std::clamp<std::int64_t>(sixteenth.count(), 1, 20));
}

/// The two bodies' ends.
class Finish {
 public:
  void count() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }
  [[nodiscard]] bool wait(Duration patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return ended_ == 2; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int ended_ = 0;
};

/// Closes with its owner.
class Socket {
 public:
  Socket() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) (void)::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::string failure(const char* what) {
  return std::string(what) + ": " + strerror(errno);
}

/// As an unprivileged user one may have namespaces only together with a user namespace.
std::string leave_network() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0 && ::unshare(CLONE_NEWNET) == 0) return {};
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return failure("unshare");
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << uid << " " << uid << " 1";
  std::ofstream("/proc/self/gid_map") << gid << " " << gid << " 1";
  return ::geteuid() == uid ? "" : "cannot map the user into a namespace";
}

std::string add_address(int socket, const std::string& label, const std::string& address) {
  ifreq request{};
  label.copy(request.ifr_name, sizeof request.ifr_name - 1);
  auto& four = reinterpret_cast<sockaddr_in&>(request.ifr_addr);
  four.sin_family = AF_INET;
  if (::inet_pton(AF_INET, address.c_str(), &four.sin_addr) != 1) return "bad address " + address;
  if (::ioctl(socket, SIOCSIFADDR, &request) != 0) return failure("SIOCSIFADDR");
  if (::ioctl(socket, SIOCGIFFLAGS, &request) != 0) return failure("SIOCGIFFLAGS");
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (::ioctl(socket, SIOCSIFFLAGS, &request) != 0) return failure("SIOCSIFFLAGS");
  return {};
}

}  // namespace

Instant RealtimeBackend::now() {
  return Instant(std::chrono::steady_clock::now().time_since_epoch());
}

bool RealtimeBackend::wait_until(const std::function<bool()>& done, Duration patience) {
  const Instant start = now();
  while (!done()) {
    const Duration waited = now() - start;
    if (waited >= patience) return false;
    (void)::poll(nullptr, 0, pause_ms_after(waited));
  }
  return true;
}

bool RealtimeBackend::run_both(std::function<void()> server, std::function<void()> client,
                               Duration patience) {
  Finish finish;
  const auto start = [&finish](std::function<void()> body) {
    return std::thread([&finish, body = std::move(body)] {
      body();
      finish.count();
    });
  };
  std::thread one = start(std::move(server));
  std::thread two = start(std::move(client));
  if (!finish.wait(patience)) {
    std::fputs("a scenario's both() does not end\n", stderr);
    std::abort();
  }
  one.join();
  two.join();
  return true;
}

std::string enter_own_network(const std::vector<std::string>& addresses) {
  if (std::string problem = leave_network(); !problem.empty()) return problem;
  const Socket socket;
  if (socket.get() < 0) return failure("socket");
  if (std::string problem = add_address(socket.get(), "lo", "127.0.0.1"); !problem.empty()) {
    return problem;
  }
  int count = 0;
  for (const std::string& address : addresses) {
    const std::string label = "lo:" + std::to_string(++count);
    if (std::string problem = add_address(socket.get(), label, address); !problem.empty()) {
      return problem;
    }
  }
  return {};
}

}  // namespace anyrdma::conformance
