#include "tests/conformance/backends/doors.h"

#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "cm/event_channel.h"
#include "tests/conformance/linked_calls.h"
#include "verbs/c_api/process.h"

namespace anyrdma {
namespace conformance::doors {
namespace {

thread_local transport::Transport* entered = nullptr;
std::mutex mutex;
std::vector<std::shared_ptr<void>> buried;  // under the mutex

}  // namespace

const Calls& enter(transport::Transport& transport) {
  entered = &transport;
  return linked_calls();
}

rdma_cm_event* next_event(rdma_event_channel* channel) {
  auto event = cm::EventChannel::from(channel).try_get();
  return event ? event->release() : nullptr;
}

void end(rdma_event_channel* channel) {
  cm::EventChannel::from(channel).close();
}

void forget_the_buried() {
  const std::lock_guard lock(mutex);
  buried.clear();
}

}  // namespace conformance::doors

namespace c_api {

verbs::Result<transport::Transport*> process_transport() {
  if (conformance::doors::entered == nullptr) return verbs::errno_code(ENODEV);
  return conformance::doors::entered;
}

void bury(std::shared_ptr<void> object) {
  const std::lock_guard lock(conformance::doors::mutex);
  conformance::doors::buried.push_back(std::move(object));
}

}  // namespace c_api
}  // namespace anyrdma
