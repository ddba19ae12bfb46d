// cm with real threads: what rdma-core promises about ids, channels and acknowledgements. Meant for
// --config=tsan; without it, it still proves that nobody hangs and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/testing/mock_transport.h"
#include "verbs/testing/fake_provider.h"

namespace anyrdma::cm {
namespace {

using transport::testing::MockEndpoint;
using transport::testing::MockTransport;

/// One mutex for the critical section, condition variables to wait on.
class ThreadRuntime final : public verbs::Runtime {
 public:
  verbs::Instant now() override { return {}; }
  Result<std::unique_ptr<verbs::Semaphore>> make_semaphore() override {
    return std::unique_ptr<verbs::Semaphore>(new ThreadSemaphore);
  }
  void enter() override { section_.lock(); }
  void leave() override { section_.unlock(); }

 private:
  class ThreadSemaphore final : public verbs::Semaphore {
   public:
    void post() override {
      const std::lock_guard lock(mutex_);
      ++units_;
      posted_.notify_one();
    }
    bool try_wait() override {
      const std::lock_guard lock(mutex_);
      if (units_ == 0) return false;
      --units_;
      return true;
    }
    Result<void> wait() override {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [this] { return units_ > 0; });
      --units_;
      return {};
    }
    int fd() const override { return -1; }

   private:
    std::mutex mutex_;
    std::condition_variable posted_;
    int units_ = 0;
  };

  std::mutex section_;
};

class CmThreads : public ::testing::Test {
 protected:
  CmThreads() {
    transport_.default_binding = transport::testing::resolved_binding(provider_.context());
    channel_ = EventChannel::create(transport_).value();
  }

  struct Listener {
    std::unique_ptr<Id> id;
    MockEndpoint* endpoint;
  };
  Listener listen() {
    Listener listener{Id::create(*channel_, RDMA_PS_TCP, nullptr).value(), nullptr};
    listener.endpoint = &transport_.last();
    EXPECT_TRUE(listener.id->listen(0));
    return listener;
  }

  ThreadRuntime runtime_;
  verbs::testing::FakeProvider provider_{runtime_};
  ::testing::NiceMock<MockTransport> transport_{runtime_, provider_};
  std::unique_ptr<EventChannel> channel_;
};

TEST_F(CmThreads, EachEventGoesToExactlyOneOfSeveralFetchers) {
  constexpr int kRequests = 600;
  constexpr int kFetchers = 3;
  Listener listener = listen();
  std::atomic<int> fetched = 0;
  std::vector<std::thread> fetchers;
  for (int i = 0; i < kFetchers; ++i) {
    fetchers.emplace_back([&] {
      for (int n = 0; n < kRequests / kFetchers; ++n) {
        Event event = channel_->get().value();
        if (event.take_request() != nullptr) ++fetched;
      }
    });
  }

  for (int i = 0; i < kRequests; ++i) transport_.request(*listener.endpoint);
  for (std::thread& fetcher : fetchers) fetcher.join();

  EXPECT_EQ(fetched, kRequests);
}

TEST_F(CmThreads, DestroyWaitsForAcknowledgementsOfAnotherThread) {
  for (int round = 0; round < 300; ++round) {
    Listener listener = listen();
    transport_.request(*listener.endpoint);
    transport_.request(*listener.endpoint);
    Event one = channel_->get().value();
    Event two = channel_->get().value();
    std::thread acknowledger([&] {
      one.ack();
      two.ack();
    });

    EXPECT_TRUE(Id::destroy(std::move(listener.id)));

    acknowledger.join();
  }
}

TEST_F(CmThreads, AnIdMayBeDestroyedWhileOthersFetch) {
  std::atomic<bool> done = false;
  std::thread fetcher([&] {
    while (!done) {
      if (Result<Event> event = channel_->try_get()) event->ack();
    }
  });

  for (int round = 0; round < 300; ++round) {
    Listener listener = listen();
    for (int i = 0; i < 3; ++i) transport_.request(*listener.endpoint);
    EXPECT_TRUE(Id::destroy(std::move(listener.id)));
  }

  done = true;
  fetcher.join();
}

}  // namespace
}  // namespace anyrdma::cm
