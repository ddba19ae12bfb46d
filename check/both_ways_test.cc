// The same mistake gives the same finding, whether the two ends of a connection are fibers,
// processes, one of each, or processes in real time, and again from the recording of the run: one
// test per checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "check/entry_checkers.h"
#include "recording/entry.h"
#include "recording/reader.h"
#include "recording/sink.h"
#include "recording/writer.h"

namespace anyrdma::check {
namespace {

using recording::entry_of;
using recording::EntryKind;
using Lines = std::vector<std::string>;

constexpr std::uint64_t kQp = 17;
constexpr std::uint64_t kNone = 0;

/// Where the programs of the two hosts run.
enum class Kind : std::uint8_t { kFibers, kProcesses, kFiberAndProcess, kRealTime };

/// A run in entries: its checkers, and its recording.
class Run final : public recording::EntryReader {
 public:
  explicit Run(Checkers::Source source) : source_(source), checkers_(source) {}

  void on_entry(const recording::Entry& entry) override {
    checkers_.on_entry(entry);
    writer_->write(entry);
  }
  void finish() {
    finished_ = true;
    checkers_.finish();
  }
  [[nodiscard]] Lines findings() const { return checkers_.findings(); }
  /// Ends the recording, and judges it.
  [[nodiscard]] Lines findings_of_recording() {
    writer_.reset();
    recording::Reader reader(sink_->bytes());
    Checkers again(source_);
    recording::Entry entry;
    while (reader.next(entry)) again.on_entry(entry);
    EXPECT_EQ(reader.problem(), "");
    if (finished_) again.finish();
    return again.findings();
  }

 private:
  const Checkers::Source source_;
  Checkers checkers_;
  std::shared_ptr<recording::MemorySink> sink_ =
      std::make_shared<recording::MemorySink>(std::size_t{1} << 24);
  std::unique_ptr<recording::Writer> writer_ = std::make_unique<recording::Writer>(sink_);
  bool finished_ = false;
};

/// One end: what its program does in entries, in the lanes that it has.
class End {
 public:
  End(recording::EntryReader& run, std::uint64_t& lanes, std::string_view host, bool process,
      char number, bool real = false)
      : run_(run), number_(number) {
    const std::string real_name = std::string(host) + "/program[2]";
    run_.on_entry(
        entry_of<EntryKind::kLane>("host", real ? std::string_view(real_name) : host, kNone));
    const std::uint64_t own = lanes++;
    if (real) {
      device_ = ids_ = own;
      return;
    }
    const std::string name = std::string(host) + (process ? "/program[2]" : "/anyrdma0");
    run_.on_entry(entry_of<EntryKind::kLane>(process ? "process" : "device", name, own + 1));
    device_ = lanes++;
    ids_ = process ? device_ : own;
    if (process) run_.on_entry(entry_of<EntryKind::kNewNumbers>(device_));
  }

  template <EntryKind kKind, class... Fields>
  void id(const Fields&... fields) {
    run_.on_entry(entry_of<kKind>(ids_, fields...));
  }
  template <EntryKind kKind, class... Fields>
  void device(const Fields&... fields) {
    recording::Entry entry = entry_of<kKind>(device_, fields...);
    entry.time = now;
    run_.on_entry(entry);
  }
  void called(std::uint64_t of, std::string_view call) {
    id<EntryKind::kCalled>(of, call, kNone, kNone);
  }
  void queued(std::uint64_t of, std::uint64_t listener, rdma_cm_event_type type, int status = 0,
              std::string_view parameters = {}) {
    id<EntryKind::kQueued>(of, listener, std::uint64_t{type}, status, kNone, parameters);
  }
  void fetched(std::uint64_t of, rdma_cm_event_type type, std::string_view addresses = {}) {
    id<EntryKind::kFetched>(of, std::uint64_t{type}, addresses);
  }
  /// A queue pair in RTS; its peer sends from the PSN that this one expects.
  void connect_qp(const End& peer, std::uint64_t type = IBV_QPT_RC, std::uint64_t srq = 0) {
    device<EntryKind::kOpened>(kQp, type, srq);
    std::string gids(32, '\0');
    gids[15] = number_;
    gids[31] = peer.number_;
    device<EntryKind::kPath>(kQp, kQp, psn_of(peer), psn_of(*this), std::uint64_t{IBV_MTU_1024},
                             gids);
    device<EntryKind::kQueuePairState>(kQp, "RTR");
    device<EntryKind::kQueuePairState>(kQp, "RTS");
  }
  void send(std::uint64_t wr_id, std::string_view operation, std::uint64_t key,
            std::uint64_t digest) {
    device<EntryKind::kPosted>(kQp, operation, wr_id, std::uint64_t{8},
                               std::uint64_t{recording::kSignaled | recording::kHasDigest}, kNone,
                               key, digest);
  }
  void receive(std::uint64_t wr_id) {
    device<EntryKind::kPosted>(kQp, "RECV", wr_id, std::uint64_t{8}, kNone, kNone, kNone, kNone);
  }
  void completed(std::uint64_t wr_id, bool receive, std::uint64_t digest = 0) {
    const std::uint64_t flags =
        (receive ? std::uint64_t{recording::kOfReceive} : 0u) | recording::kHasDigest;
    device<EntryKind::kCompleted>(kQp, wr_id,
                                  static_cast<std::uint64_t>(receive ? IBV_WC_RECV : IBV_WC_SEND),
                                  kNone, std::uint64_t{8}, flags, kNone, kNone, digest);
  }
  void destroy_qp(std::uint64_t sends = 0) {
    device<EntryKind::kHeld>(kQp, std::uint64_t{2}, sends, sends, kNone, kNone, kNone, kNone,
                             kNone);
    device<EntryKind::kQueuePairState>(kQp, "destroyed");
  }

  verbs::Instant now{};  ///< of the work that follows

 private:
  [[nodiscard]] static std::uint64_t psn_of(const End& end) {
    return static_cast<std::uint64_t>(end.number_) * 100;
  }

  recording::EntryReader& run_;
  char number_;
  std::uint64_t ids_ = 0;
  std::uint64_t device_ = 0;
};

/// Client and server, at 10.0.0.2 and 10.0.0.1.
std::string addresses(bool of_client, std::uint16_t client_port = 8192) {
  std::string client("\4\0\0\x0a\0\0\2", 7);
  client[1] = static_cast<char>(client_port >> 8);
  client[2] = static_cast<char>(client_port & 0xff);
  const std::string server("\4\x1d\x2f\x0a\0\0\1", 7);
  return of_client ? client + server : server + client;
}

/// Of an event: of a queue pair with that number, with private data up to `room` bytes.
std::string parameters(std::uint8_t resources, std::uint8_t depth, std::string_view data,
                       std::size_t room) {
  std::string text{static_cast<char>(resources), static_cast<char>(depth), 0, 0, 0, 0};
  text += static_cast<char>(kQp);
  text += std::string(3, '\0');
  text += static_cast<char>(room);
  text += data;
  return text + std::string(room - data.size(), '\0');
}

class World {
 public:
  explicit World(Kind kind)
      : run(kind == Kind::kRealTime ? Checkers::Source::kProcesses : Checkers::Source::kWorld),
        client(run, lanes_, "client", kind == Kind::kProcesses, 2, kind == Kind::kRealTime),
        server(run, lanes_, "server", kind != Kind::kFibers, 1, kind == Kind::kRealTime) {}

  /// The findings, with the names of processes replaced by those of fibers.
  [[nodiscard]] Lines findings() const {
    Lines all;
    for (std::string each : run.findings()) {
      for (const auto& [own, same] : {std::pair{"/program[2]#", "#"}, {"/program[2]", "/anyrdma0"}})
        for (std::size_t at = 0; (at = each.find(own)) != each.npos;)
          each.replace(at, std::string_view(own).size(), same);
      all.push_back(each);
    }
    return all;
  }
  /// Up to the request that the server has fetched.
  void request(std::string_view heard = "hello") {
    client.called(1, "resolve_addr");
    client.queued(1, 0, RDMA_CM_EVENT_ADDR_RESOLVED);
    client.fetched(1, RDMA_CM_EVENT_ADDR_RESOLVED);
    client.id<EntryKind::kAcknowledged>(std::uint64_t{1});
    client.called(1, "resolve_route");
    client.queued(1, 0, RDMA_CM_EVENT_ROUTE_RESOLVED);
    client.fetched(1, RDMA_CM_EVENT_ROUTE_RESOLVED);
    client.id<EntryKind::kAcknowledged>(std::uint64_t{1});
    given(client, "connect", 3, 1, true, "hello");
    client.called(1, "connect");
    server.called(1, "listen");
    server.queued(2, 1, RDMA_CM_EVENT_CONNECT_REQUEST, 0, parameters(1, 3, heard, 56));
    server.fetched(2, RDMA_CM_EVENT_CONNECT_REQUEST, addresses(false));
    server.id<EntryKind::kAcknowledged>(std::uint64_t{1});
  }
  void given(End& end, std::string_view call, std::uint64_t resources, std::uint64_t depth,
             bool of_client, std::string_view data) {
    end.id<EntryKind::kGiven>(std::uint64_t{of_client ? 1u : 2u}, call, kQp, resources, depth,
                              kNone, addresses(of_client), data);
  }

 private:
  std::uint64_t lanes_ = 0;

 public:
  Run run;
  End client;
  End server;
};

class BothWays : public ::testing::TestWithParam<Kind> {
 protected:
  void TearDown() override { EXPECT_EQ(world.run.findings_of_recording(), world.run.findings()); }

  World world{GetParam()};
};

TEST_P(BothWays, PrivateDataThatArrivesChanged) {
  world.request("hallo");

  ASSERT_EQ(world.findings().size(), 1u);
  EXPECT_THAT(world.findings()[0],
              ::testing::StartsWith("private data: server#2: request on "
                                    "TCP 10.0.0.2,8192->10.0.0.1,7471 came with 68616c6c6f"));
}

TEST_P(BothWays, ARejectionWhoseDataIsNotWhatTheServerGave) {
  world.request();
  world.given(world.server, "reject", 0, 0, false, "no");
  world.server.called(2, "reject");
  world.client.queued(1, 0, RDMA_CM_EVENT_REJECTED, 28, parameters(0, 0, "yes", 148));
  world.client.fetched(1, RDMA_CM_EVENT_REJECTED);

  ASSERT_EQ(world.findings().size(), 1u);
  EXPECT_THAT(world.findings()[0], ::testing::StartsWith("private data: client#1: rejection on "));
}

TEST_P(BothWays, TermsThatThePeerHasNotOffered) {
  world.request();
  world.given(world.server, "accept", 1, 1, false, "");
  world.client.queued(1, 0, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, parameters(4, 4, "", 196));
  world.client.fetched(1, RDMA_CM_EVENT_CONNECT_RESPONSE);

  ASSERT_EQ(world.findings().size(), 1u);
  EXPECT_THAT(world.findings()[0], ::testing::StartsWith("agreement: client#1: its event on "));
}

TEST_P(BothWays, AnEventThatCannotComeNow) {
  world.client.queued(1, 0, RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_THAT(world.findings(),
              ::testing::ElementsAre("legality: client#1: ESTABLISHED although it is idle"));
}

TEST_P(BothWays, AnAcknowledgementTooMany) {
  world.client.id<EntryKind::kAcknowledged>(std::uint64_t{1});

  EXPECT_THAT(
      world.findings(),
      ::testing::ElementsAre("ledger: client#1: an event was acknowledged that was not fetched"));
}

TEST_P(BothWays, WorkThatIsLost) {
  world.client.connect_qp(world.server);
  world.client.send(5, "SEND", 0, 1);
  world.client.destroy_qp(0);
  world.run.finish();

  EXPECT_THAT(world.findings(), ::testing::ElementsAre("work: client/anyrdma0 QP 17: of its sends "
                                                       "1 are not completed, and it has 0"));
}

TEST_P(BothWays, AMessageThatArrivesChangedAndOneThatNoProgramSent) {
  world.client.connect_qp(world.server);
  world.server.connect_qp(world.client);
  world.server.receive(1);
  world.server.receive(2);
  world.client.send(5, "SEND", 0, 111);
  world.server.completed(1, true, 112);
  world.server.completed(2, true, 113);
  world.run.finish();

  ASSERT_EQ(world.findings().size(), 2u);
  EXPECT_THAT(world.findings()[0], ::testing::HasSubstr("a message of 8 bytes arrived changed"));
  EXPECT_THAT(world.findings()[1], ::testing::HasSubstr("8 bytes received that no peer sent"));
}

// A process that is killed in the middle of a call has sent what it does not report.
TEST_P(BothWays, AMessageOfAProcessThatIsGoneMayBeUnreported) {
  if (GetParam() == Kind::kFibers || GetParam() == Kind::kFiberAndProcess) return;
  world.client.connect_qp(world.server);
  world.server.connect_qp(world.client);
  world.server.receive(1);
  world.client.device<EntryKind::kGone>();
  world.server.completed(1, true, 112);
  world.run.finish();

  EXPECT_THAT(world.findings(), ::testing::IsEmpty());
}

TEST_P(BothWays, AMessageWhoseSenderSaysSoLaterIsNone) {
  world.client.connect_qp(world.server);
  world.server.connect_qp(world.client);
  world.server.receive(1);
  world.server.completed(1, true, 111);
  world.client.send(5, "SEND", 0, 111);
  world.client.completed(5, false);
  world.run.finish();

  EXPECT_THAT(world.findings(), ::testing::IsEmpty());
}

TEST_P(BothWays, AKeyThatOpensAfterItsRegionIsGone) {
  world.client.connect_qp(world.server);
  world.server.connect_qp(world.client);
  world.server.device<EntryKind::kKey>(std::uint64_t{0x100}, std::uint64_t{1});
  world.server.device<EntryKind::kKey>(std::uint64_t{0x100}, kNone);
  world.client.now = verbs::Instant(std::chrono::milliseconds(2));
  world.client.send(5, "RDMA_WRITE", 0x100, 0);
  world.client.completed(5, false);

  EXPECT_THAT(world.findings(),
              ::testing::ElementsAre("keys: client/anyrdma0 QP 17: what names key 256 succeeded, "
                                     "which was closed before"));
}

TEST_P(BothWays, AnAtomicOperationThatIsDoneTwice) {
  world.client.connect_qp(world.server);
  world.server.connect_qp(world.client);
  for (int twice = 0; twice < 2; ++twice)
    world.server.device<EntryKind::kAtomic>(kQp, std::uint64_t{200}, std::uint64_t{7},
                                            std::uint64_t{1});
  world.client.device<EntryKind::kAtomic>(kQp, std::uint64_t{200}, std::uint64_t{8}, kNone);

  ASSERT_EQ(world.findings().size(), 2u);
  EXPECT_THAT(world.findings()[0], ::testing::HasSubstr("PSN 200 is executed twice"));
  EXPECT_THAT(
      world.findings()[1],
      ::testing::HasSubstr("PSN 200 is answered with the original value 8, but memory had 7"));
}

TEST_P(BothWays, ALimitThatNoneHasSet) {
  constexpr std::uint64_t kQueue = 3;
  world.client.device<EntryKind::kSharedQueue>(kQueue, std::uint64_t{2}, std::uint64_t{1}, kNone);

  EXPECT_THAT(world.findings(),
              ::testing::ElementsAre("announcements: client/anyrdma0: a shared receive queue says "
                                     "SRQ_LIMIT_REACHED although no limit is set"));
}

TEST_P(BothWays, AQueuePairThatOutlivesItsConnection) {
  world.request();
  world.client.connect_qp(world.server);
  world.given(world.client, "connect", 3, 1, true, "hello");
  world.client.called(1, "destroy");
  world.run.on_entry(entry_of<EntryKind::kRest>(kNone));

  EXPECT_THAT(world.findings(), ::testing::Contains("afterlife: client/anyrdma0 QP 17: is in RTS "
                                                    "although client#1 is over"));
}

TEST_P(BothWays, ATimerOfNoQueuePair) {
  world.client.device<EntryKind::kTimers>(std::uint64_t{3}, std::uint64_t{2});

  EXPECT_THAT(world.findings(), ::testing::ElementsAre("leaks: client/anyrdma0: 3 timers armed, of "
                                                       "which 2 have an owner"));
}

TEST_P(BothWays, AMisuse) {
  world.client.id<EntryKind::kMistake>("rdma_ack_cm_event: acknowledged twice", "");

  EXPECT_THAT(world.findings(),
              ::testing::Contains(::testing::EndsWith(": rdma_ack_cm_event: acknowledged twice")));
}

INSTANTIATE_TEST_SUITE_P(Ends, BothWays,
                         ::testing::Values(Kind::kFibers, Kind::kProcesses, Kind::kFiberAndProcess,
                                           Kind::kRealTime));

// --- what has ended is forgotten ----------------------------------------------------------------

/// The private data of each connection is the same; that of the last is changed on its way.
TEST(Many, ConnectionsThatHaveEndedAreForgottenWithoutAFinding) {
  check::Run run(Checkers::Source::kWorld);
  std::uint64_t lanes = 0;
  End client(run, lanes, "client", false, 2);
  End server(run, lanes, "server", false, 1);
  server.called(1, "listen");
  constexpr std::uint64_t kLives = 2000;
  for (std::uint64_t i = 1; i <= kLives; ++i) {
    const std::uint64_t there = i + 1;
    const auto port = static_cast<std::uint16_t>(20'000 + i % 700);  // used again and again
    for (const auto& [call, event] : {std::pair{"resolve_addr", RDMA_CM_EVENT_ADDR_RESOLVED},
                                      {"resolve_route", RDMA_CM_EVENT_ROUTE_RESOLVED}}) {
      client.called(i, call);
      client.queued(i, 0, event);
      client.fetched(i, event);
      client.id<EntryKind::kAcknowledged>(i);
    }
    const auto give = [&](End& end, std::uint64_t id, std::string_view call) {
      end.id<EntryKind::kGiven>(id, call, kQp, std::uint64_t{1}, std::uint64_t{1}, kNone,
                                addresses(&end == &client, port), "hello");
      end.called(id, call);
    };
    give(client, i, "connect");
    server.queued(there, 1, RDMA_CM_EVENT_CONNECT_REQUEST, 0,
                  parameters(1, 1, i == kLives ? "hallo" : "hello", 56));
    server.fetched(there, RDMA_CM_EVENT_CONNECT_REQUEST, addresses(false, port));
    server.id<EntryKind::kAcknowledged>(std::uint64_t{1});
    give(server, there, "accept");
    client.queued(i, 0, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, parameters(1, 1, "hello", 196));
    client.fetched(i, RDMA_CM_EVENT_ESTABLISHED);
    client.id<EntryKind::kAcknowledged>(i);
    client.called(i, "destroy");
    server.called(there, "destroy");
  }
  server.called(1, "destroy");
  run.finish();

  ASSERT_EQ(run.findings().size(), 1u);
  EXPECT_THAT(run.findings()[0], ::testing::StartsWith("private data: server#2001: request on "));
  EXPECT_THAT(run.findings()[0], ::testing::HasSubstr("but given was 68656c6c6f"));
  EXPECT_EQ(run.findings_of_recording(), run.findings());
}

// --- recordings of half of the processes --------------------------------------------------------

TEST(Alone, AConnectionWithoutTheRecordingOfItsOtherEndIsNotJudgedAndSaysSo) {
  Checkers checkers(Checkers::Source::kProcesses);
  std::uint64_t lanes = 0;
  End server(checkers, lanes, "server", true, 1);
  server.called(1, "listen");
  server.queued(2, 1, RDMA_CM_EVENT_CONNECT_REQUEST, 0, parameters(1, 3, "hello", 56));
  server.fetched(2, RDMA_CM_EVENT_CONNECT_REQUEST, addresses(false));
  checkers.finish();

  EXPECT_THAT(checkers.findings(), ::testing::IsEmpty());
  EXPECT_THAT(checkers.unjudged(), ::testing::ElementsAre(::testing::StartsWith("1 connection")));
}

TEST(Alone, ACallThatIsReportedAfterItsMessageArrivedIsJudgedThen) {
  Checkers checkers(Checkers::Source::kProcesses);
  std::uint64_t lanes = 0;
  End client(checkers, lanes, "client", true, 2, true);
  End server(checkers, lanes, "server", true, 1, true);
  server.called(1, "listen");
  server.queued(2, 1, RDMA_CM_EVENT_CONNECT_REQUEST, 0, parameters(1, 3, "hallo", 56));
  server.fetched(2, RDMA_CM_EVENT_CONNECT_REQUEST, addresses(false));
  EXPECT_THAT(checkers.findings(), ::testing::IsEmpty());
  client.id<EntryKind::kGiven>(std::uint64_t{1}, "connect", kQp, std::uint64_t{3}, std::uint64_t{1},
                               kNone, addresses(true), "hello");
  checkers.finish();

  ASSERT_EQ(checkers.findings().size(), 1u);
  EXPECT_THAT(checkers.findings()[0], ::testing::StartsWith("private data: server/program[2]#2"));
  EXPECT_THAT(checkers.unjudged(), ::testing::IsEmpty());
}

TEST(Alone, AnIdsOwnEndIsNoAnswerOfItsPeer) {
  Checkers checkers(Checkers::Source::kProcesses);
  std::uint64_t lanes = 0;
  End client(checkers, lanes, "client", true, 2, true);
  client.id<EntryKind::kGiven>(std::uint64_t{1}, "connect", kQp, std::uint64_t{3}, std::uint64_t{1},
                               kNone, addresses(true), "hello");
  client.queued(1, 0, RDMA_CM_EVENT_REJECTED, 28, parameters(0, 0, "no", 148));
  client.fetched(1, RDMA_CM_EVENT_REJECTED);
  client.called(1, "destroy");
  checkers.finish();

  EXPECT_THAT(checkers.findings(), ::testing::Each(::testing::StartsWith("legality")));
  EXPECT_THAT(checkers.unjudged(), ::testing::ElementsAre(::testing::StartsWith("1 connection")));
}

TEST(Alone, WhatARecordingThatIsCutOffDoesNotReportIsNoFinding) {
  Checkers checkers(Checkers::Source::kProcesses);
  std::uint64_t lanes = 0;
  End client(checkers, lanes, "client", true, 2, true);
  End server(checkers, lanes, "server", true, 1, true);
  client.connect_qp(server);
  server.connect_qp(client);
  server.receive(1);
  server.completed(1, true, 111);
  server.completed(2, true, 111);
  checkers.finish(false);

  EXPECT_THAT(checkers.findings(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace anyrdma::check
