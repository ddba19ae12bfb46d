#include "transport/ibcm/outbox.h"

#include <gtest/gtest.h>

namespace anyrdma::ibcm {
namespace {

std::uint16_t number_of(const Action* action) {
  return std::get<Dropped>(*action).attribute;
}

TEST(Outbox, GivesBackInOrder) {
  Outbox outbox;
  EXPECT_EQ(outbox.front(), nullptr);

  outbox.send(Path{});
  outbox.upcall(UpcallKind::kRepError, CommId{7});
  outbox.drop(DropReason::kDuplicate, 3);

  EXPECT_TRUE(std::holds_alternative<SendMad>(*outbox.front()));
  outbox.pop();
  EXPECT_EQ(std::get<Upcall>(*outbox.front()).id, CommId{7});
  outbox.pop();
  EXPECT_EQ(number_of(outbox.front()), 3);
  outbox.pop();
  EXPECT_EQ(outbox.front(), nullptr);
}

TEST(Outbox, KeepsAnActionInPlaceWhileItGrows) {
  Outbox outbox;
  outbox.drop(DropReason::kDuplicate, 0);
  const Action* first = outbox.front();

  for (std::uint16_t i = 1; i < 1000; ++i) outbox.drop(DropReason::kDuplicate, i);

  EXPECT_EQ(outbox.front(), first);
  for (std::uint16_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(number_of(outbox.front()), i);
    outbox.pop();
  }
}

// Grows with its first entry in the middle of the ring.
TEST(Outbox, KeepsItsOrderWhenItGrowsAfterTurning) {
  Outbox outbox;
  for (std::uint16_t i = 0; i < 10; ++i) outbox.drop(DropReason::kDuplicate, i);
  for (int i = 0; i < 10; ++i) outbox.pop();

  for (std::uint16_t i = 0; i < 40; ++i) outbox.drop(DropReason::kDuplicate, i);

  EXPECT_EQ(outbox.size(), 40u);
  for (std::uint16_t i = 0; i < 40; ++i) {
    ASSERT_EQ(number_of(outbox.front()), i);
    outbox.pop();
  }
}

TEST(Outbox, AReusedActionCarriesNothingOver) {
  Outbox outbox;
  outbox.upcall(UpcallKind::kRejReceived, CommId{1}).reject_reason = 28;
  outbox.pop();

  EXPECT_EQ(outbox.upcall(UpcallKind::kDreqReceived, CommId{2}).reject_reason, 0);
}

}  // namespace
}  // namespace anyrdma::ibcm
