// Section D: Hangs in teardown
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "sim/testing/audit.h"
#include "tests/museum/exhibit.h"
#include "transport/ibcm/profile.h"

namespace anyrdma::museum {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Teardown : public Exhibit {
 protected:
  /// An id of the client that asks a server where nobody listens.
  std::unique_ptr<cm::Id> ask_nobody() {
    auto id = client.resolve(server_host.address(kPort));
    rdma_conn_param param = parameters("");
    param.qp_num = 0x100;
    EXPECT_TRUE(id->connect(&param));
    return id;
  }
};

// Exhibit 22: perftest acknowledged only the events that it expected, so after REJECTED its
// rdma_destroy_id waited for ever. The simulator's report names the event.
// https://github.com/linux-rdma/perftest/pull/60
TEST_F(Teardown, AnErrorEventThatNobodyAcknowledgesBlocksTheDestruction) {
  ask([this] {
    auto id = ask_nobody();
    std::optional<cm::Event> event = client.next();
    if (event->type() == RDMA_CM_EVENT_ESTABLISHED) event->ack();
    EXPECT_FALSE(cm::Id::destroy(std::move(id)));
  });

  EXPECT_THAT(
      run_into_hang(),
      AllOf(HasSubstr("client/ask waits for the acknowledgement of the events of an id that "
                      "it destroys since"),
            HasSubstr("REJECTED status 8, fetched at"),
            HasSubstr("by client/ask, not acknowledged")));
}

// Exhibit 22: A corrected program acknowledges every event, also REJECTED, so rdma_destroy_id
// returns.
// https://github.com/linux-rdma/perftest/pull/60
TEST_F(Teardown, AnAcknowledgedErrorEventBlocksNothing) {
  ask([this] {
    auto id = ask_nobody();
    client.next()->ack();
    EXPECT_TRUE(cm::Id::destroy(std::move(id)));
  });

  run();
}

// Exhibit 22: A program released a connection in the handler of an event of that connection. The
// event is acknowledged only when the handler returns, and the release waits for that: a deadlock.
// https://github.com/cocalele/PureFlash/issues/52
TEST_F(Teardown, AConnectionThatItsOwnEventReleasesHangs) {
  server_host.spawn("handle events", [this] {
    const auto listener = server.listen(server_host.address(kPort));
    Connection side = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    const cm::Event event = server.channel().get().value();
    EXPECT_EQ(event.type(), RDMA_CM_EVENT_DISCONNECTED);
    side.pipe.reset();
    EXPECT_FALSE(cm::Id::destroy(std::move(side.id)));
  });
  ask([this] { EXPECT_TRUE(connect().id->disconnect()); });

  EXPECT_THAT(run_into_hang(),
              AllOf(HasSubstr("server/handle events waits for the acknowledgement"),
                    HasSubstr("DISCONNECTED status 0, fetched")));
}

/// A queue pair in error with two completion queues on one channel, each with an event: what
/// <infiniband/verbs.h> gives a program.
class CompletionEvents : public Teardown {
 protected:
  /// Makes all, runs `program` with an event of each queue waiting, and destroys the rest.
  void with_events(const std::function<void()>& program) {
    const auto id = client.resolve(server_host.address(kPort));
    ibv_context* const verbs = id->raw()->verbs;
    channel = ibv_create_comp_channel(verbs);
    for (ibv_cq*& cq : {std::ref(first), std::ref(second)}) {
      cq = ibv_create_cq(verbs, 4, nullptr, channel, 0);
      EXPECT_EQ(ibv_req_notify_cq(cq, 0), 0);
    }
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = first;
    attr.recv_cq = second;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
    attr.sq_sig_all = 1;
    EXPECT_TRUE(id->create_qp(nullptr, &attr));
    flush(id->qp());
    EXPECT_TRUE(id->destroy_qp());
    program();
    for (ibv_cq* cq : {first, second}) EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  }

  ibv_cq* take_event() {
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    EXPECT_EQ(ibv_get_cq_event(channel, &cq, &context), 0);
    return cq;
  }

  ibv_comp_channel* channel = nullptr;
  ibv_cq* first = nullptr;
  ibv_cq* second = nullptr;

 private:
  static void flush(ibv_qp* qp) {
    ibv_qp_attr error{};
    error.qp_state = IBV_QPS_ERR;
    EXPECT_EQ(ibv_modify_qp(qp, &error, IBV_QP_STATE), 0);
    ibv_send_wr send{};
    send.opcode = IBV_WR_SEND;
    ibv_send_wr* bad_send = nullptr;
    EXPECT_EQ(ibv_post_send(qp, &send, &bad_send), 0);
    ibv_recv_wr receive{};
    ibv_recv_wr* bad_receive = nullptr;
    EXPECT_EQ(ibv_post_recv(qp, &receive, &bad_receive), 0);
  }
};

// Exhibit 23: UCX took events of two completion queues and acknowledged all of them to the second
// queue, so the destruction of the first one waited for ever.
// https://github.com/openucx/ucx/issues/1039
TEST_F(CompletionEvents, AcknowledgedToTheWrongQueueBlockTheDestructionOfTheOther) {
  ask([this] {
    with_events([this] {
      ibv_cq* const owed = take_event();
      ibv_cq* const last = take_event();
      EXPECT_NE(owed, last);
      ibv_ack_cq_events(last, 1);  // once for each drain of the channel
      EXPECT_EQ(ibv_destroy_cq(owed), EDEADLK);
      ibv_ack_cq_events(owed, 1);  // to clean up behind the hang
    });
  });

  EXPECT_THAT(run_into_hang(), HasSubstr("completion events: 1 taken, 0 acknowledged"));
}

// Exhibit 23: A Python program raised an exception between ibv_get_cq_event and ibv_ack_cq_events.
// The interpreter then destroyed all objects, which waited for ever. A binding that counts events
// can acknowledge them first.
// https://github.com/linux-rdma/rdma-core/pull/657
// https://github.com/pmem/rpma/pull/905
TEST_F(CompletionEvents, AnExceptionBeforeTheAcknowledgementHangsTheCleanUp) {
  ask([this] {
    with_events([this] {
      ibv_cq* const taken = take_event();
      EXPECT_EQ(ibv_destroy_cq(taken), EDEADLK);
      ibv_ack_cq_events(taken, 1);  // what the mended binding does
    });
  });

  EXPECT_THAT(run_into_hang(),
              HasSubstr("client/ask waits for the acknowledgement of verbs events"));
}

/// Without checkers, who would make a failed test of the mistake.
class MisusedEvents : private sim::testing::Unaudited, public CompletionEvents {};

// Exhibit 23: A program acknowledged more completion events than it had taken, so ibv_destroy_cq,
// which waits for equal counts, hung. With anyrdma the program gets a report of its mistake
// instead.
// https://github.com/google/rdma-unit-test/blob/master/internal/introspection_rxe.h
TEST_F(MisusedEvents, AcknowledgedTwiceAreSaidToBeTheProgramsMistake) {
  ask([this] { with_events([this] { ibv_ack_cq_events(take_event(), 2); }); });

  ::testing::internal::CaptureStderr();
  run();

  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("acknowledges 2 completion events of 1 that were taken"));
}

/// A transfer engine whose peer died: it counts its transfers by their completions alone.
class Transfers : public Teardown {
 protected:
  enum class Cleaning { kReset, kDestroy, kError };

  /// How long the engine waits for its transfers after it has cleaned the queue pair: at most the
  /// minute after which it gives a batch up.
  verbs::Duration wait_after(Cleaning cleaning) {
    verbs::Duration waited{};
    plan("at 1s: cut client<->server");
    serve([this] {
      const auto listener = server.listen(server_host.address(kPort));
      const Connection side = accept();
      server.expect(RDMA_CM_EVENT_ESTABLISHED);
      (void)server.next();
    });
    ask([&] { waited = transfer(cleaning); });
    run();
    return waited;
  }

 private:
  static constexpr int kTransfers = 4;

  verbs::Duration transfer(Cleaning cleaning) {
    const auto id = client.resolve(server_host.address(kPort));
    ibv_cq* const cq = ibv_create_cq(id->raw()->verbs, kTransfers, nullptr, nullptr, 0);
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = attr.recv_cq = cq;
    attr.cap.max_send_wr = kTransfers;
    attr.sq_sig_all = 1;
    EXPECT_TRUE(id->create_qp(nullptr, &attr));
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->connect(&param));
    client.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(client_host.sleep(2s));
    post(id->qp());
    clean(*id, cleaning);
    const verbs::Duration waited = wait_for_completions(*cq);
    if (cleaning != Cleaning::kDestroy) {
      EXPECT_TRUE(id->destroy_qp());
    }
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    return waited;
  }

  static void post(ibv_qp* qp) {
    for (int i = 0; i < kTransfers; ++i) {
      ibv_send_wr send{};
      send.opcode = IBV_WR_SEND;
      ibv_send_wr* bad = nullptr;
      EXPECT_EQ(ibv_post_send(qp, &send, &bad), 0);
    }
  }

  static void clean(cm::Id& id, Cleaning cleaning) {
    ibv_qp_attr attr{};
    attr.qp_state = cleaning == Cleaning::kReset ? IBV_QPS_RESET : IBV_QPS_ERR;
    if (cleaning == Cleaning::kDestroy) {
      EXPECT_TRUE(id.destroy_qp());
    } else {
      EXPECT_EQ(ibv_modify_qp(id.qp(), &attr, IBV_QP_STATE), 0);
    }
  }

  verbs::Duration wait_for_completions(ibv_cq& cq) {
    const sim::Instant start = world.now();
    for (int done = 0; done < kTransfers && world.now() - start < 60s;) {
      ibv_wc completion{};
      done += ibv_poll_cq(&cq, 1, &completion);
      EXPECT_TRUE(client_host.sleep(1ms));
    }
    return world.now() - start;
  }
};

// Exhibit 24: After its peer had crashed, an engine moved the queue pair to RESET, which discards
// work requests without completions. So its tasks waited for their whole timeout of 60 seconds.
// https://github.com/kvcache-ai/Mooncake/pull/2427
TEST_F(Transfers, ThrownAwayByResetAreWaitedForAMinute) {
  EXPECT_GE(wait_after(Cleaning::kReset), 60s);
}

// Exhibit 24: Destroying a queue pair discards its work requests without completions, as RESET
// does, so tasks that wait for completions run into their timeout.
// https://github.com/kvcache-ai/Mooncake/pull/2427
TEST_F(Transfers, ThrownAwayByDestructionAreWaitedForAMinute) {
  EXPECT_GE(wait_after(Cleaning::kDestroy), 60s);
}

// Exhibit 24: A corrected engine moves the queue pair to ERR instead of RESET, and gets a flush
// completion for each work request at once.
// https://github.com/kvcache-ai/Mooncake/pull/2427
TEST_F(Transfers, FlushedByErrorCompleteAtOnce) {
  EXPECT_LT(wait_after(Cleaning::kError), 10ms);
}

/// A poll group: connections share a completion queue and a pool of requests. The number of a work
/// request is its request's place in the pool.
class PollGroup : public Teardown {
 protected:
  struct Request {
    int connection = 1;
    bool done = false;
    ibv_wc_status status = IBV_WC_SUCCESS;
  };
  enum class Group { kDestroysAtOnce, kDrainsBefore };

  /// What became of the last request of the second connection, which has posted nothing.
  Request last_request(Group group) {
    ask([&] { reconnect(group); });
    run();
    return pool_.back();
  }

 private:
  static constexpr int kRequests = 2;

  void reconnect(Group group) {
    const auto id = client.resolve(server_host.address(kPort));
    auto pipe = std::make_unique<Pipe>(*id);
    for (std::uint64_t i = 0; i < kRequests; ++i) pipe->post_receive(i, 0, 16);
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->connect(&param));
    client.expect(RDMA_CM_EVENT_REJECTED);
    EXPECT_TRUE(id->disconnect());  // the queue pair to ERR: all receives are flushed
    std::array<ibv_wc, kRequests> batch{};
    EXPECT_EQ(ibv_poll_cq(id->qp()->recv_cq, kRequests, batch.data()), kRequests);
    for (const ibv_wc& completion : batch) {
      Request& request = pool_[completion.wr_id];
      request.done = true;
      request.status = completion.status;
      if (group == Group::kDrainsBefore && &completion != &batch.back()) continue;
      if (pipe == nullptr) continue;
      pipe.reset();
      pool_.fill({.connection = 2});  // the next connection takes the requests that are free now
    }
  }

  std::array<Request, kRequests> pool_;
};

// Exhibit 25: A program destroyed a queue pair before it had drained its flushed completions. A
// later completion referred to a request that had been freed and reused by the next connection. In
// the test a number represents the request's address.
// https://github.com/spdk/spdk/pull/3859
TEST_F(PollGroup, AFlushedCompletionHitsTheNextConnection) {
  const Request request = last_request(Group::kDestroysAtOnce);

  EXPECT_EQ(request.connection, 2);
  EXPECT_TRUE(request.done) << "it was never posted";
  EXPECT_EQ(request.status, IBV_WC_WR_FLUSH_ERR);
}

// Exhibit 25: A corrected program drains the flushed completions of a queue pair before it destroys
// it.
// https://github.com/spdk/spdk/pull/3859
TEST_F(PollGroup, DrainedCompletionsHitTheirOwnConnection) {
  const Request request = last_request(Group::kDrainsBefore);

  EXPECT_EQ(request.connection, 2);
  EXPECT_FALSE(request.done);
}

// Exhibit 26: Destroying an id in the kernel waited for the retries of a CM message, 16 of some 4 s
// each, and the kernel warned after 10 s of a hang. In anyrdma the destruction does not wait. The
// test measures how long the disconnecting side retries, in virtual time.
// https://git.kernel.org/rdma/rdma/c/58aca1f3de059c
TEST_F(Teardown, TheRetriesOfADisconnectEndWithinTheirBound) {
  const ibcm::Profile& profile = world.options().profile;
  const int transmissions = profile.retries_max + 1;
  const verbs::Duration bound =
      transmissions * ibcm::from_exponent(profile.cm_response_timeout) * 5 / 4;
  sim::Instant start{};
  serve([&] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    plan("on server->client DREQ all: lose");
    start = world.now();
    EXPECT_TRUE(side.id->disconnect());
    const Seen end = server.expect(RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_EQ(end.status, -ETIMEDOUT);
    EXPECT_GT(end.when - start, 60s);
    EXPECT_LT(end.when - start, bound);
  });
  ask([this] {
    const Connection side = connect();
    EXPECT_TRUE(client_host.sleep(100s));
  });

  run();

  EXPECT_EQ(world.faults().status().front().fired, 16u);
}

/// A connection whose connect() blocks until its dispatcher wakes it, under whatever goes wrong.
class BlockingConnect : public Teardown, public ::testing::WithParamInterface<const char*> {
 protected:
  enum class Dispatcher { kWakesForWhatItKnows, kWakesForAll };

  void connect_blocking(Dispatcher dispatcher) {
    plan(GetParam());
    serve([this] {
      const auto listener = server.listen(server_host.address(kPort));
      while (const auto id = server.expect_request()) continue;
    });
    ask([this, dispatcher] {
      const auto id = client.make_id();
      const sockaddr_storage peer = server_host.address(kPort).to_sockaddr();
      EXPECT_TRUE(id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), kPatience));
      if (!wait(dispatcher, RDMA_CM_EVENT_ADDR_RESOLVED)) return;
      EXPECT_TRUE(id->resolve_route(kPatience));
      if (!wait(dispatcher, RDMA_CM_EVENT_ROUTE_RESOLVED)) return;
      rdma_conn_param param = parameters("");
      param.qp_num = 0x100;
      EXPECT_TRUE(id->connect(&param));
      EXPECT_FALSE(wait(dispatcher, RDMA_CM_EVENT_CONNECT_RESPONSE));
    });
  }

 private:
  bool wait(Dispatcher dispatcher, rdma_cm_event_type wanted) {
    while (const std::optional<cm::Event> event = client.next()) {
      if (event->type() == wanted) return true;
      if (dispatcher == Dispatcher::kWakesForAll) return false;
    }
    return false;
  }
};

// Exhibit 27: A blocking Connect() slept until its event dispatcher saw an event that it knew. It
// did not know error events, so after any error Connect() slept for ever.
// https://github.com/zrlio/disni/issues/41
TEST_P(BlockingConnect, SleepsForEverWhenTheDispatcherDoesNotKnowTheEvent) {
  connect_blocking(Dispatcher::kWakesForWhatItKnows);

  EXPECT_THAT(run_into_hang(), HasSubstr("client/ask waits for an event on an event channel"));
}

// Exhibit 27: A corrected dispatcher wakes the blocking Connect() for every event, also for errors.
// https://github.com/zrlio/disni/pull/42
TEST_P(BlockingConnect, EndsWhenTheDispatcherWakesItForAll) {
  connect_blocking(Dispatcher::kWakesForAll);

  run();
}

INSTANTIATE_TEST_SUITE_P(Errors, BlockingConnect,
                         ::testing::Values("at 0s: cut client<->server",      // ADDR_ERROR
                                           "at 2us: remove client anyrdma0",  // DEVICE_REMOVAL
                                           "on client->server REQ 1: remove client anyrdma0",
                                           "on client->server REQ all: lose",  // UNREACHABLE
                                           "on server request 1: reject 28"));

}  // namespace
}  // namespace anyrdma::museum
