// Event channels.
#include <rdma/rdma_cma.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "cm/event_channel.h"
#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

namespace anyrdma::c_api {
namespace {

using cm::EventChannel;

/// A program may destroy a channel on which one of its threads still waits, or is about to (rping
/// ends so). With librdmacm that thread reads from a descriptor that is gone and mostly gets away
/// with it; so the channels destroyed last stay in memory.
class Graveyard {
 public:
  void bury(std::unique_ptr<EventChannel> channel) {
    const std::lock_guard lock(mutex_);
    std::swap(graves_[next_], channel);  // the oldest one goes
    next_ = (next_ + 1) % graves_.size();
  }

 private:
  std::mutex mutex_;
  std::array<std::unique_ptr<EventChannel>, 16> graves_;
  std::size_t next_ = 0;
};

// Never destroyed: threads may outlive main().
Graveyard& graveyard() {
  static auto* const instance = new Graveyard;
  return *instance;
}

}  // namespace
}  // namespace anyrdma::c_api

using namespace anyrdma::c_api;
using anyrdma::cm::EventChannel;

extern "C" {

rdma_event_channel* rdma_create_event_channel() {
  return null_on_error([&]() -> Result<rdma_event_channel*> {
    const auto transport = process_transport();
    if (!transport) return transport.error();
    auto channel = EventChannel::create(**transport);
    if (!channel) return channel.error();
    return channel->release()->raw();  // the application's, until it destroys it
  });
}

void rdma_destroy_event_channel(rdma_event_channel* channel) {
  if (channel == nullptr) return;
  (void)minus_one_on_error([&]() -> Result<void> {
    std::unique_ptr<EventChannel> owned(&EventChannel::from(channel));
    owned->close();
    graveyard().bury(std::move(owned));
    return {};
  });
}

}  // extern "C"
