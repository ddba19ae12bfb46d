// What a device does becomes entries with verbs' own words, and others hear of it as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "recording/work/observer.h"

namespace anyrdma::recording {
namespace {

using testing::ElementsAre;
using verbs::Instant;

class Heard final : public EntrySink {
 public:
  std::vector<std::string> all;

 private:
  void put(const Entry& entry) override {
    const auto& n = entry.numbers;
    switch (entry.kind) {
      case EntryKind::kOpened:
        return add(n[1], "opened");
      case EntryKind::kQueuePairState:
        return add(n[1], std::string(entry.texts[0]));
      case EntryKind::kPosted:
        return add(n[1], std::string(entry.texts[0]) + " " + std::to_string(n[3]) +
                             (n[4] != 0 ? " signaled" : ""));
      case EntryKind::kCompleted:
        return add(n[1], "opcode " + std::to_string(n[3]) + " status " + std::to_string(n[4]) +
                             " bytes " + std::to_string(n[5]) + (n[6] != 0 ? " of a receive" : ""));
      case EntryKind::kAsync:
        return add(n[2], "event " + std::to_string(n[1]));
      default:
        return add(0, "something else");
    }
  }
  void add(std::uint64_t qp_num, const std::string& what) {
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

  EXPECT_THAT(heard.all, ElementsAre("17: opened", "17: RTS", "17: RDMA_WRITE 15 signaled",
                                     "17: RECV 10", "0: SRQ_RECV 10", "17: destroyed"));
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

  EXPECT_THAT(heard.all, ElementsAre("17: opcode 128 status 0 bytes 12 of a receive",
                                     "17: opcode 0 status 5 bytes 0 of a receive"));
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

}  // namespace
}  // namespace anyrdma::recording
