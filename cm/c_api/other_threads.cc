#include "cm/c_api/other_threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

namespace anyrdma::c_api {
namespace {

constexpr const char* kTasks = "/proc/self/task";

/// Calls `visit` with each thread's id but the caller's, until it gives false. False: it did.
template <class Visit>
bool visit_others(Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir(kTasks), closedir);
  if (tasks == nullptr) return true;
  const auto self = static_cast<int>(syscall(SYS_gettid));
  while (const dirent* entry = readdir(tasks.get())) {
    const int thread = std::atoi(entry->d_name);
    if (thread > 0 && thread != self && !visit(thread)) return false;
  }
  return true;
}

/// What a thread of this process has had of processors; pthread_getcpuclockid() for who knows its
/// id only.
std::chrono::nanoseconds processor_time(int thread) {
  constexpr unsigned kOfOneThread = 4;
  constexpr unsigned kScheduled = 2;
  const auto clock =
      static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kOfOneThread | kScheduled);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Sleeps, is stopped or gone; not: runs, wants to, or waits for a page (proc(5)).
bool is_at_rest(int thread) {
  const std::string path = std::string(kTasks) + "/" + std::to_string(thread) + "/stat";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  std::array<char, 256> bytes;
  const ssize_t got = read(file, bytes.data(), bytes.size());
  close(file);
  const std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::size_t name_end = text.rfind(") ");  // the name may have anything in it
  if (name_end == std::string_view::npos) return true;
  const char state = text[name_end + 2];
  return state != 'R' && state != 'D';
}

}  // namespace

OtherThreads::OtherThreads() {
  visit_others([this](int thread) {
    used_[thread] = processor_time(thread);
    return true;
  });
}

bool OtherThreads::had_their_chance(std::chrono::nanoseconds share) const {
  return visit_others([&](int thread) {
    const auto then = used_.find(thread);
    const auto had = then == used_.end() ? std::chrono::nanoseconds{} : then->second;
    return processor_time(thread) - had >= share || is_at_rest(thread);
  });
}

}  // namespace anyrdma::c_api
