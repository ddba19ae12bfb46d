// What a device does becomes entries with verbs' own words, and others hear of it as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "recording/work/entries.h"
#include "recording/work/observer.h"

namespace anyrdma::recording {
namespace {

using testing::ElementsAre;
using verbs::Instant;

class Heard final : public WorkSink {
 public:
  std::vector<std::string> all;

 private:
  void on_queue_pair(const QueuePairState& state) override {
    add(state.qp_num, std::string(state.state));
  }
  void on_work(const PostedWork& work) override {
    add(work.qp_num, std::string(work.operation) + " " + std::to_string(work.bytes));
  }
  void on_completion(const TakenCompletion& completion) override {
    add(completion.qp_num, "opcode " + std::to_string(completion.opcode) + " status " +
                               std::to_string(completion.status) + " bytes " +
                               std::to_string(completion.bytes));
  }
  void on_async(const RaisedEvent& event) override {
    add(event.qp_num, "event " + std::to_string(event.type));
  }
  void add(std::uint32_t qp_num, const std::string& what) {
    all.push_back(std::to_string(qp_num) + ": " + what);
  }
};

/// A queue pair of that number.
ibv_qp queue_pair(std::uint32_t number) {
  ibv_qp qp{};
  qp.qp_num = number;
  return qp;
}

TEST(Work, IsToldInTheWordsOfVerbs) {
  Heard heard;
  WorkObserver observer(heard);
  const ibv_qp qp = queue_pair(17);
  std::array<ibv_sge, 2> list{};
  list[0].length = 10;
  list[1].length = 5;
  ibv_send_wr send{};
  send.opcode = IBV_WR_RDMA_WRITE;
  send.sg_list = list.data();
  send.num_sge = 2;
  ibv_recv_wr receive{};
  receive.sg_list = list.data();
  receive.num_sge = 1;

  observer.on_opened(qp);
  observer.on_state(qp, IBV_QPS_RTS);
  observer.on_posted(qp, send, true);
  observer.on_posted(qp, receive);
  observer.on_posted(ibv_srq{}, receive);
  observer.on_discarding(qp, false);
  observer.on_discarding(qp, true);

  EXPECT_THAT(heard.all, ElementsAre("17: RESET", "17: RTS", "17: RDMA_WRITE 15", "17: RECV 10",
                                     "0: SRQ_RECV 10", "17: destroyed"));
}

TEST(Work, ThatFailsSaysNothingOfWhatItWas) {
  Heard heard;
  WorkObserver observer(heard);
  ibv_wc completion{};
  completion.qp_num = 17;
  completion.opcode = IBV_WC_RECV;
  completion.byte_len = 12;
  ibv_wc failed = completion;
  failed.status = IBV_WC_WR_FLUSH_ERR;

  observer.on_polled(ibv_cq{}, completion);
  observer.on_polled(ibv_cq{}, failed);

  EXPECT_THAT(heard.all,
              ElementsAre("17: opcode 128 status 0 bytes 12", "17: opcode 0 status 5 bytes 0"));
}

TEST(Work, AnEventNamesTheQueuePairThatItIsOf) {
  Heard heard;
  WorkObserver observer(heard);
  ibv_qp qp = queue_pair(17);
  ibv_async_event fatal{};
  fatal.event_type = IBV_EVENT_QP_FATAL;
  fatal.element.qp = &qp;
  ibv_async_event port{};
  port.event_type = IBV_EVENT_PORT_ERR;
  port.element.port_num = 1;

  observer.on_raised(fatal);
  observer.on_raised(port);

  EXPECT_THAT(heard.all, ElementsAre("17: event 1", "0: event 10"));
}

TEST(Work, IsPassedOn) {
  Heard first;
  Heard second;
  WorkObserver next(second);
  WorkObserver observer(first, &next);

  observer.on_state(queue_pair(3), IBV_QPS_ERR);

  EXPECT_THAT(first.all, ElementsAre("3: ERR"));
  EXPECT_EQ(second.all, first.all);
}

TEST(Work, IsReadAsItWasWritten) {
  const auto sink = std::make_shared<MemorySink>(std::size_t{1} << 22);
  Writer writer(sink);
  const Number lane = writer.lane(Instant{}, "device", "client/anyrdma0");
  write(writer, Instant{}, lane, QueuePairState{.qp_num = 17, .state = "RTS"});
  write(writer, Instant{}, lane,
        PostedWork{.qp_num = 17, .operation = "SEND", .wr_id = 7, .bytes = 100});
  write(writer, Instant{}, lane,
        TakenCompletion{.qp_num = 17, .wr_id = 7, .opcode = 1, .status = 5, .bytes = 9});
  write(writer, Instant{}, lane, RaisedEvent{.type = 1, .qp_num = 17});
  writer.end(Instant{}, "passed", 0);

  Reader reader(sink->bytes());
  std::vector<EntryKind> kinds;
  Entry entry;
  while (reader.next(entry)) {
    kinds.push_back(entry.kind);
    if (entry.kind == EntryKind::kCompleted) {
      EXPECT_THAT(entry.numbers, ElementsAre(0, 17, 7, 1, 5, 9));
    }
  }
  EXPECT_EQ(reader.problem(), "");
  EXPECT_THAT(kinds, ElementsAre(EntryKind::kLane, EntryKind::kQueuePairState, EntryKind::kPosted,
                                 EntryKind::kCompleted, EntryKind::kAsync, EntryKind::kEnd));
}

}  // namespace
}  // namespace anyrdma::recording
