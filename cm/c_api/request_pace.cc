#include "cm/c_api/request_pace.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace anyrdma::c_api {
namespace {

constexpr std::chrono::milliseconds kPatience{5};

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
  all.taken.wait_for(lock, kPatience, [&] { return std::ranges::count(all.ids, id) == 0; });
  return !all.remove(id);
}

}  // namespace anyrdma::c_api
