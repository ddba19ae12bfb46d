// cm with real threads: what rdma-core promises about ids, channels and acknowledgements. Meant for
// --config=tsan; without it, it still proves that nobody hangs and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "cm/asio/async_get.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "transport/testing/mock_transport.h"
#include "verbs/testing/fake_provider.h"

namespace anyrdma::cm {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;
using transport::testing::MockEndpoint;
using transport::testing::MockTransport;

/// One mutex for the critical section, condition variables to wait on.
class ThreadRuntime final : public verbs::Runtime {
 public:
  verbs::Instant now() override { return {}; }
  Result<std::unique_ptr<verbs::Semaphore>> make_semaphore() override {
    return std::unique_ptr<verbs::Semaphore>(new ThreadSemaphore(blocked_));
  }
  void enter() override { section_.lock(); }
  void leave() override { section_.unlock(); }
  /// How many threads sleep, or are about to.
  [[nodiscard]] int blocked() const { return blocked_; }

 private:
  class ThreadSemaphore final : public verbs::Semaphore {
   public:
    explicit ThreadSemaphore(std::atomic<int>& blocked) : blocked_(blocked) {}
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
      ++blocked_;
      posted_.wait(lock, [this] { return units_ > 0; });
      --blocked_;
      --units_;
      return {};
    }
    int fd() const override { return -1; }

   private:
    std::atomic<int>& blocked_;
    std::mutex mutex_;
    std::condition_variable posted_;
    int units_ = 0;
  };

  std::mutex section_;
  std::atomic<int> blocked_ = 0;
};

/// Stops whoever modifies a queue pair, once, until another thread sleeps, or has had the time to.
class SlowProvider final : public verbs::testing::FakeProvider {
 public:
  explicit SlowProvider(ThreadRuntime& runtime) : FakeProvider(runtime), threads_(runtime) {}

  Result<void> modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) override {
    if (slow.exchange(false)) {
      modifying = true;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      while (threads_.blocked() == 0 && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
      }
      somebody_waited = threads_.blocked() != 0;
    }
    return FakeProvider::modify_qp(qp, attr, mask);
  }

  std::atomic<bool> slow = false;
  std::atomic<bool> modifying = false;
  std::atomic<bool> somebody_waited = false;

 private:
  ThreadRuntime& threads_;
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
  /// An id with a queue pair that is being connected.
  Listener connect() {
    Listener active{Id::create(*channel_, RDMA_PS_TCP, nullptr).value(), nullptr};
    active.endpoint = &transport_.last();
    const sockaddr_in peer = transport::testing::ipv4(0x0a000002, 7471);
    EXPECT_TRUE(active.id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), 2s));
    transport_.raise(*active.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_TRUE(channel_->try_get());
    EXPECT_TRUE(active.id->resolve_route(2s));
    transport_.raise(*active.endpoint, RDMA_CM_EVENT_ROUTE_RESOLVED);
    EXPECT_TRUE(channel_->try_get());
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
    EXPECT_TRUE(active.id->create_qp(nullptr, &attr));
    EXPECT_TRUE(active.id->connect(nullptr));
    return active;
  }

  SlowProvider provider_{runtime_};
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

TEST_F(CmThreads, ADestroyThatSleepsReturnsWithTheLastAcknowledgement) {
  Listener listener = listen();
  transport_.request(*listener.endpoint);
  transport_.request(*listener.endpoint);
  Event one = channel_->get().value();
  Event two = channel_->get().value();
  std::atomic<bool> destroyed = false;
  std::thread destroyer([&] {
    EXPECT_TRUE(Id::destroy(std::move(listener.id)));
    destroyed = true;
  });
  while (runtime_.blocked() == 0) std::this_thread::yield();

  one.ack();
  EXPECT_FALSE(destroyed);
  two.ack();
  destroyer.join();

  EXPECT_TRUE(destroyed);
}

TEST_F(CmThreads, CallsOnDistinctIdsRunInParallel) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        auto id = Id::create(*channel_, RDMA_PS_TCP, nullptr).value();
        const sockaddr_in address = transport::testing::ipv4(0x0a000001, 0);
        EXPECT_TRUE(id->bind(reinterpret_cast<const sockaddr*>(&address)));
        EXPECT_TRUE(id->listen(0));
        EXPECT_FALSE(id->connect(nullptr));
        EXPECT_TRUE(Id::destroy(std::move(id)));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();

  EXPECT_EQ(channel_->try_get().error().value(), EAGAIN);
}

// --- async_get ----------------------------------------------------------------------------------

TEST_F(CmThreads, AsyncGetsOfSeveralThreadsShareTheEventsWithABlockingOne) {
  constexpr int kThreads = 4;
  constexpr int kEach = 150;
  Listener listener = listen();
  std::atomic<int> fetched = 0;
  asio::thread_pool pool(3);
  std::vector<std::thread> callers;
  for (int i = 0; i < kThreads; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        channel_->async_get(asio::bind_executor(pool, [&](error_code error, Event event) {
          if (!error && event.take_request() != nullptr) ++fetched;
        }));
      }
    });
  }
  callers.emplace_back([&] {
    for (int n = 0; n < kEach; ++n) {
      Event event = channel_->get().value();
      if (event.take_request() != nullptr) ++fetched;
    }
  });

  constexpr int kRequests = (kThreads + 1) * kEach;
  for (int i = 0; i < kRequests; ++i) transport_.request(*listener.endpoint);
  for (std::thread& caller : callers) caller.join();
  pool.join();

  EXPECT_EQ(fetched, kRequests);
}

TEST_F(CmThreads, CancellingAsyncGetsWhileEventsComeLosesNone) {
  constexpr int kRequests = 300;
  Listener listener = listen();
  std::atomic<int> fetched = 0;
  std::atomic<int> aborted = 0;
  asio::thread_pool pool(3);
  const auto get_and_cancel = [&] {
    const auto strand = asio::make_strand(pool);
    const auto signal = std::make_shared<asio::cancellation_signal>();
    asio::post(strand, [&, strand, signal] {
      channel_->async_get(asio::bind_cancellation_slot(
          signal->slot(), asio::bind_executor(strand, [&, signal](error_code error, Event) {
            ++(error ? aborted : fetched);
          })));
      asio::post(strand, [signal] { signal->emit(asio::cancellation_type::total); });
    });
  };
  for (int i = 0; i < kRequests; ++i) {
    get_and_cancel();
    transport_.request(*listener.endpoint);
  }
  pool.join();

  int left = 0;
  while (channel_->try_get()) ++left;
  EXPECT_EQ(fetched + left, kRequests);
  EXPECT_EQ(fetched + aborted, kRequests);
}

TEST_F(CmThreads, AFutureWithoutAnExecutorIsServedByAThreadOfAsios) {
  Listener listener = listen();
  std::future<Event> future = channel_->async_get(asio::use_future);
  transport_.request(*listener.endpoint);

  EXPECT_EQ(future.get().type(), RDMA_CM_EVENT_CONNECT_REQUEST);
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

TEST_F(CmThreads, AQueuePairThatAFetchWorksOnIsDestroyedAfterIt) {
  Listener active = connect();
  transport_.raise(*active.endpoint, RDMA_CM_EVENT_CONNECT_RESPONSE);
  provider_.moves.clear();
  provider_.slow = true;
  rdma_cm_event_type fetched{};
  std::thread fetcher([&] { fetched = channel_->get()->type(); });
  while (!provider_.modifying) std::this_thread::yield();

  EXPECT_TRUE(active.id->destroy_qp());

  fetcher.join();
  EXPECT_TRUE(provider_.somebody_waited);
  EXPECT_EQ(fetched, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_THAT(provider_.states_moved_to(),
              ::testing::ElementsAre(IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS));
  EXPECT_EQ(provider_.live.qps, 0u);
}

/// In the order in which they are told.
class Story final : public transport::EventObserver, public transport::CallObserver {
 public:
  explicit Story(transport::Transport& transport) : transport_(transport) {
    transport_.set_event_observer(this);
    transport_.set_call_observer(this);
  }
  ~Story() override {
    transport_.set_event_observer(nullptr);
    transport_.set_call_observer(nullptr);
  }
  void on_event(Step step, std::uint64_t, std::uint64_t, const rdma_cm_event&) override {
    if (step == Step::kFetched) told.emplace_back("fetched");
  }
  void on_call(std::uint64_t, std::string_view call, int) override { told.emplace_back(call); }

  std::vector<std::string> told;

 private:
  transport::Transport& transport_;
};

TEST_F(CmThreads, ObserversHearOfAnEventThatIsBeingFetchedBeforeTheEndOfItsId) {
  Listener active = connect();
  transport_.raise(*active.endpoint, RDMA_CM_EVENT_CONNECT_RESPONSE);
  provider_.slow = true;
  const rdma_cm_id objects = *active.id->raw();  // which outlive the id
  Story story(transport_);
  std::thread fetcher([&] { EXPECT_TRUE(channel_->get()); });
  while (!provider_.modifying) std::this_thread::yield();

  EXPECT_TRUE(Id::destroy(std::move(active.id)));

  fetcher.join();
  EXPECT_TRUE(provider_.somebody_waited);
  EXPECT_THAT(story.told, ::testing::ElementsAre("fetched", "destroy"));
  EXPECT_TRUE(provider_.destroy_qp(objects.qp));
  for (ibv_cq* cq : {objects.send_cq, objects.recv_cq}) EXPECT_TRUE(provider_.destroy_cq(cq));
  for (ibv_comp_channel* channel : {objects.send_cq_channel, objects.recv_cq_channel})
    EXPECT_TRUE(provider_.destroy_comp_channel(channel));
}

TEST_F(CmThreads, AQueuePairMayBeDestroyedWhileItsEventsAreFetched) {
  for (int round = 0; round < 300; ++round) {
    Listener active = connect();
    transport_.raise(*active.endpoint,
                     round % 2 == 0 ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_REJECTED);
    std::thread fetcher([&] { EXPECT_TRUE(channel_->get()); });
    EXPECT_TRUE(active.id->destroy_qp());
    fetcher.join();
  }
  EXPECT_EQ(provider_.live.qps, 0u);
}

}  // namespace
}  // namespace anyrdma::cm
