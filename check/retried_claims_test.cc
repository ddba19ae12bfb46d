// The checker of requests that are posted again on another queue pair.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "check/retried.h"

namespace anyrdma::check {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kMessage = Retried::Effect::kMessage;
constexpr auto kAtomic = Retried::Effect::kAtomic;

EndKey end_of(char host, std::uint32_t qp) {
  EndKey end{.gid = {}, .qp = qp};
  end.gid[0] = static_cast<std::uint8_t>(host);
  return end;
}

/// A client and a server with two connections, one over each rail.
class RetriedTest : public ::testing::Test {
 protected:
  RetriedTest() {
    for (const Stream& stream : {rail0, rail1}) {
      retried.on_end_point(stream.from, "client/prog");
      retried.on_end_point(stream.to, "server/prog");
      retried.on_begin(stream);
    }
  }
  Retried::Handle send(const Stream& stream, std::uint64_t wr_id, std::uint64_t digest,
                       const char* operation = "SEND") {
    return retried.on_posted(
        stream, std::string(operation).starts_with("ATOMIC") ? kAtomic : kMessage,
        {.operation = operation, .wr_id = wr_id, .length = 8, .digest = digest},
        {.device = "client/prog/anyrdma0",
         .qp = stream.from.qp,
         .at = verbs::Instant{} + std::chrono::milliseconds(1)},
        true);
  }
  std::size_t remarks() { return retried.take_remarks().size(); }

  Stream rail0{.from = end_of('a', 17), .to = end_of('b', 18), .psn = 1};
  Stream rail1{.from = end_of('c', 19), .to = end_of('d', 20), .psn = 2};
  Retried retried;
};

TEST_F(RetriedTest, AMessageThatTookEffectAndIsSentAgainIsReported) {
  const auto first = send(rail0, 1, 5);
  retried.on_executed(rail0, kMessage);
  retried.on_unknown(first);
  (void)send(rail1, 2, 5);
  EXPECT_EQ(remarks(), 0u);
  retried.on_executed(rail1, kMessage);

  EXPECT_THAT(
      retried.take_remarks(),
      ElementsAre(Field(
          &Retried::Remark::text,
          HasSubstr("the SEND with wr_id 1 on client/prog/anyrdma0 QP 17 (posted at 0.001000000 s) "
                    "failed, but server/prog had executed it, and has executed it again as the "
                    "SEND with wr_id 2 on client/prog/anyrdma0 QP 19"))));
}

TEST_F(RetriedTest, AMessageThatTookNoEffectMayBeSentAgain) {
  const auto first = send(rail0, 1, 5);
  retried.on_unknown(first);
  (void)send(rail1, 1, 5);
  retried.on_executed(rail1, kMessage);

  EXPECT_EQ(remarks(), 0u);
}

TEST_F(RetriedTest, AnotherMessageIsNotTheSame) {
  const auto first = send(rail0, 1, 5);
  retried.on_executed(rail0, kMessage);
  retried.on_unknown(first);
  (void)send(rail1, 1, 6);
  (void)send(rail1, 1, 5, "SEND_WITH_IMM");
  retried.on_executed(rail1, kMessage);
  retried.on_executed(rail1, kMessage);

  EXPECT_EQ(remarks(), 0u);
}

TEST_F(RetriedTest, AMessageThatSucceededMayBeSentAgain) {
  const auto first = send(rail0, 1, 5);
  retried.on_executed(rail0, kMessage);
  retried.on_success(first);
  (void)send(rail1, 1, 5);
  retried.on_executed(rail1, kMessage);

  EXPECT_EQ(remarks(), 0u);
}

TEST_F(RetriedTest, ARequestThatIsExecutedLateIsReported) {
  const auto first = send(rail0, 1, 5, "ATOMIC_FETCH_AND_ADD");
  retried.on_unknown(first);
  retried.on_requester_gone(rail0);
  const auto again = send(rail1, 1, 5, "ATOMIC_FETCH_AND_ADD");
  retried.on_success(again);
  EXPECT_EQ(remarks(), 0u);
  retried.on_executed(rail0, kAtomic);

  EXPECT_EQ(remarks(), 1u);
}

TEST_F(RetriedTest, MessagesAndAtomicsAreCountedApart) {
  (void)send(rail0, 1, 4);
  const auto add = send(rail0, 2, 5, "ATOMIC_FETCH_AND_ADD");
  retried.on_executed(rail0, kMessage);
  retried.on_unknown(add);
  (void)send(rail1, 2, 5, "ATOMIC_FETCH_AND_ADD");
  retried.on_executed(rail1, kAtomic);
  EXPECT_EQ(remarks(), 0u);
  retried.on_executed(rail0, kAtomic);

  EXPECT_EQ(remarks(), 1u);
}

TEST_F(RetriedTest, AResponderMayBeHeardOfFirst) {
  retried.on_executed(rail0, kMessage);
  const auto first = send(rail0, 1, 5);
  retried.on_unknown(first);
  retried.on_executed(rail1, kMessage);
  (void)send(rail1, 1, 5);

  EXPECT_EQ(remarks(), 1u);
}

TEST_F(RetriedTest, OfAThirdAttemptTheSecondIsTheFirst) {
  const auto first = send(rail0, 1, 5);
  retried.on_unknown(first);
  const auto second = send(rail1, 1, 5);
  retried.on_unknown(second);
  Stream rail2{.from = end_of('a', 21), .to = end_of('b', 22), .psn = 3};
  retried.on_end_point(rail2.from, "client/prog");
  retried.on_end_point(rail2.to, "server/prog");
  retried.on_begin(rail2);
  (void)send(rail2, 1, 5);
  retried.on_executed(rail1, kMessage);
  retried.on_executed(rail2, kMessage);

  EXPECT_EQ(remarks(), 1u);
}

TEST_F(RetriedTest, NothingIsSaidOfAnotherPeerOrAnUnknownOne) {
  const auto first = send(rail0, 1, 5);
  retried.on_executed(rail0, kMessage);
  retried.on_unknown(first);
  retried.on_end_point(rail1.to, "third/prog");
  (void)send(rail1, 1, 5);
  retried.on_executed(rail1, kMessage);
  retried.on_end_gone(rail1.to);
  (void)send(rail1, 2, 5);
  retried.on_executed(rail1, kMessage);

  EXPECT_EQ(remarks(), 0u);
}

TEST_F(RetriedTest, NothingIsSaidAfterCompletionsWereLost) {
  const auto first = send(rail0, 1, 5);
  retried.on_lost_track(rail0);
  retried.on_executed(rail0, kMessage);
  retried.on_unknown(first);
  (void)send(rail1, 1, 5);
  retried.on_executed(rail1, kMessage);

  EXPECT_EQ(remarks(), 0u);
}

TEST_F(RetriedTest, AStreamThatHasEndedIsNotFollowed) {
  retried.on_responder_gone(rail0);
  EXPECT_EQ(send(rail0, 1, 5), nullptr);
  retried.on_executed(rail0, kMessage);
  retried.on_unknown(nullptr);
  retried.on_success(nullptr);

  EXPECT_THAT(retried.take_remarks(), IsEmpty());
}

}  // namespace
}  // namespace anyrdma::check
