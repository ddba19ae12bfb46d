#include "cm/c_api/request_pace.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "cm/c_api/other_threads.h"

namespace anyrdma::c_api {
namespace {

/// For a program that does something else: with the machine to itself, a thread that was woken for
/// the request has begun with it long before.
constexpr std::chrono::milliseconds kPatience{5};
/// For one whose threads want a processor and get none. Only a machine that gives them none in all
/// that time gets to its end.
constexpr std::chrono::seconds kPatienceOnABusyMachine{10};
constexpr std::chrono::milliseconds kLook{1};
/// Looks in a row that find everybody asleep: between two threads of which one wakes the other
/// there is a moment in which both are.
constexpr int kQuietLooks = 3;

/// The requests that were handed out to threads which were not back for more; a few at most.
struct Shared {
  std::mutex mutex;
  std::condition_variable taken;
  std::vector<const rdma_cm_id*> ids;
  std::atomic<std::size_t> count{0};  ///< of ids: spares the lock while there are none

  /// Under the mutex.
  bool remove(const rdma_cm_id* id) {
    const std::size_t removed = std::erase(ids, id);
    count.store(ids.size(), std::memory_order_relaxed);
    return removed != 0;
  }
};

// Never destroyed: threads may outlive main().
Shared& shared() {
  static auto* const instance = new Shared;
  return *instance;
}

thread_local const rdma_cm_id* mine = nullptr;

}  // namespace

void RequestPace::handed_out(const rdma_cm_id* id) {
  Shared& all = shared();
  const std::lock_guard lock(all.mutex);
  all.ids.push_back(id);
  all.count.store(all.ids.size(), std::memory_order_relaxed);
  mine = id;
}

void RequestPace::taken(const rdma_cm_id* id) {
  Shared& all = shared();
  if (all.count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(all.mutex);
  if (all.remove(id)) all.taken.notify_all();
}

bool RequestPace::wait() {
  if (mine == nullptr) return true;
  const rdma_cm_id* const id = std::exchange(mine, nullptr);
  Shared& all = shared();
  std::unique_lock lock(all.mutex);
  const auto is_taken = [&] { return std::ranges::count(all.ids, id) == 0; };
  if (all.taken.wait_for(lock, kPatience, is_taken)) return true;
  const auto limit = std::chrono::steady_clock::now() + kPatienceOnABusyMachine;
  const OtherThreads others;
  for (int quiet = 0; quiet < kQuietLooks && std::chrono::steady_clock::now() < limit;) {
    if (all.taken.wait_for(lock, kLook, is_taken)) return true;
    quiet = others.had_their_chance(kPatience) ? quiet + 1 : 0;
  }
  return !all.remove(id);
}

}  // namespace anyrdma::c_api
