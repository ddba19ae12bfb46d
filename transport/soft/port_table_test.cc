#include "transport/soft/port_table.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "verbs/soft/testing/fake_runtime.h"

namespace anyrdma::transport::soft {
namespace {

const Address kA = Address::ipv4(0x0a000001, 7471);
const Address kB = Address::ipv4(0x0a000002, 7471);
const Address kAny4 = Address::ipv4(0, 7471);
const Address kLoop4 = Address::ipv4(0x7f000001, 7471);

Address any6() {
  Address address = Address::wildcard(AF_INET6);
  address.port = 7471;
  return address;
}
Claim claim_of(const Address& local) {
  return {.local = local};
}
Claim reusing(const Address& local) {
  return {.local = local, .reuse = true};
}
Claim afonly(const Address& local) {
  return {.local = local, .afonly = true};
}
Claim connected(const Address& local, const Address& destination) {
  return {.local = local, .destination = destination};
}

int conflict(const Claim& wanted, const Claim& owned) {
  return bind_conflict(wanted, owned, ReuseRule::kHonoured);
}

TEST(BindConflict, SameSpecificAddressIsInUse) {
  EXPECT_EQ(conflict(claim_of(kA), claim_of(kA)), EADDRINUSE);
}

TEST(BindConflict, DifferentSpecificAddressesShareThePort) {
  EXPECT_EQ(conflict(claim_of(kA), claim_of(kB)), 0);
}

TEST(BindConflict, WildcardOnEitherSideIsNotAvailable) {
  EXPECT_EQ(conflict(claim_of(kAny4), claim_of(kA)), EADDRNOTAVAIL);
  EXPECT_EQ(conflict(claim_of(kA), claim_of(kAny4)), EADDRNOTAVAIL);
  EXPECT_EQ(conflict(claim_of(kAny4), claim_of(kAny4)), EADDRNOTAVAIL);
}

TEST(BindConflict, LoopbackCountsAsWildcard) {
  EXPECT_EQ(conflict(claim_of(kLoop4), claim_of(kA)), EADDRNOTAVAIL);
  EXPECT_EQ(conflict(claim_of(kLoop4), claim_of(kLoop4)), EADDRNOTAVAIL);
}

TEST(BindConflict, ReuseMustBeOnBothSides) {
  EXPECT_EQ(conflict(reusing(kA), reusing(kA)), 0);
  EXPECT_EQ(conflict(reusing(kA), claim_of(kA)), EADDRINUSE);
  EXPECT_EQ(conflict(claim_of(kAny4), reusing(kA)), EADDRNOTAVAIL);
}

TEST(BindConflict, ReuseMayBeIgnored) {
  EXPECT_EQ(bind_conflict(reusing(kA), reusing(kA), ReuseRule::kIgnored), EADDRINUSE);
  EXPECT_EQ(bind_conflict(reusing(kAny4), reusing(kA), ReuseRule::kIgnored), EADDRNOTAVAIL);
}

TEST(BindConflict, FamiliesAreApartWhenBothAreAfonly) {
  EXPECT_EQ(conflict(afonly(any6()), afonly(kAny4)), 0);
  EXPECT_EQ(conflict(claim_of(any6()), afonly(kAny4)), EADDRNOTAVAIL);
  EXPECT_EQ(conflict(afonly(any6()), claim_of(kAny4)), EADDRNOTAVAIL);
  EXPECT_EQ(conflict(afonly(kA), afonly(kA)), EADDRINUSE);
}

TEST(EphemeralConflict, AnyDifferenceInSpecificPartsLetsThePortBeShared) {
  const Address other_port = Address::ipv4(0x0a000002, 9);
  const Address other_host = Address::ipv4(0x0a000003, 7471);

  EXPECT_TRUE(ephemeral_conflict(connected(kA, kB), connected(kA, kB)));
  EXPECT_FALSE(ephemeral_conflict(connected(kA, other_port), connected(kA, kB)));
  EXPECT_FALSE(ephemeral_conflict(connected(kA, other_host), connected(kA, kB)));
  EXPECT_FALSE(ephemeral_conflict(connected(kB, kB), connected(kA, kB)));
}

TEST(EphemeralConflict, UnknownPartsTellNothingApart) {
  EXPECT_TRUE(ephemeral_conflict(claim_of(kAny4), connected(kA, kB)));
  EXPECT_TRUE(ephemeral_conflict(connected(kA, kB), claim_of(kA)));
  EXPECT_TRUE(ephemeral_conflict(connected(kAny4, kB), connected(kA, kB)));
}

class PortTableTest : public ::testing::Test {
 protected:
  verbs::soft::testing::FakeRandom random_;
  LocalPortTable table_{random_};
};

TEST_F(PortTableTest, ExplicitPortIsTakenOnce) {
  EXPECT_EQ(table_.claim(claim_of(kA)).value().port, 7471);
  EXPECT_EQ(table_.claim(claim_of(kA)).error(), verbs::errno_code(EADDRINUSE));
  EXPECT_EQ(table_.claim(claim_of(kAny4)).error(), verbs::errno_code(EADDRNOTAVAIL));
  EXPECT_EQ(table_.claim(claim_of(kB)).value().port, 7471);
}

TEST_F(PortTableTest, EveryOwnerOfAPortIsAsked) {
  ASSERT_TRUE(table_.claim(claim_of(kA)));
  ASSERT_TRUE(table_.claim(claim_of(kB)));

  EXPECT_EQ(table_.claim(claim_of(kB)).error(), verbs::errno_code(EADDRINUSE));
}

TEST_F(PortTableTest, OfTwoThatAreInTheWayTheNewerAnswers) {
  Claim address = claim_of(kA);
  Claim wildcard = claim_of(kAny4);
  address.reuse = wildcard.reuse = true;
  const PortTable::Claimed older = table_.claim(address).value();
  ASSERT_TRUE(table_.claim(wildcard));
  EXPECT_EQ(table_.claim(claim_of(kA)).error(), verbs::errno_code(EADDRNOTAVAIL));

  table_.release(older.id);
  ASSERT_TRUE(table_.claim(address));
  EXPECT_EQ(table_.claim(claim_of(kA)).error(), verbs::errno_code(EADDRINUSE));
}

TEST_F(PortTableTest, SpacesAreApart) {
  ASSERT_TRUE(table_.claim(claim_of(kA)));

  Claim udp = claim_of(kA);
  udp.space = RDMA_PS_UDP;

  EXPECT_TRUE(table_.claim(udp));
}

TEST_F(PortTableTest, ReleasedPortIsFreeAtOnce) {
  const PortTable::Claimed first = table_.claim(claim_of(kA)).value();
  const PortTable::Claimed second = table_.claim(claim_of(kB)).value();

  table_.release(first.id);

  const PortTable::Claimed again = table_.claim(claim_of(kA)).value();
  EXPECT_EQ(table_.size(), 2u);
  table_.release(second.id);
  table_.release(again.id);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_TRUE(table_.claim(claim_of(kAny4)));
}

TEST_F(PortTableTest, ReusingIdsShareAPortButOnlyALoneOneListens) {
  const PortTable::Claimed first = table_.claim(reusing(kA)).value();
  const PortTable::Claimed second = table_.claim(reusing(kA)).value();
  EXPECT_EQ(table_.listen(first.id).error(), verbs::errno_code(EADDRINUSE));

  table_.release(second.id);

  EXPECT_TRUE(table_.listen(first.id));
}

TEST_F(PortTableTest, ReusingWildcardDoesNotListenBesideAnother) {
  const PortTable::Claimed wildcard = table_.claim(reusing(kAny4)).value();
  ASSERT_TRUE(table_.claim(reusing(kA)));

  EXPECT_EQ(table_.listen(wildcard.id).error(), verbs::errno_code(EADDRNOTAVAIL));
}

TEST_F(PortTableTest, ListeningTakesReuseAway) {
  const PortTable::Claimed listener = table_.claim(reusing(kA)).value();
  ASSERT_TRUE(table_.listen(listener.id));

  EXPECT_EQ(table_.claim(reusing(kA)).error(), verbs::errno_code(EADDRINUSE));
}

TEST_F(PortTableTest, ReuseMayBeSetAfterBinding) {
  const PortTable::Claimed first = table_.claim(claim_of(kA)).value();
  table_.update(first.id, reusing(kA));

  EXPECT_TRUE(table_.claim(reusing(kA)));
}

TEST_F(PortTableTest, LowPortNeedsPrivilege) {
  LocalPortTable unprivileged(random_, {.privileged = false});
  Claim low = claim_of(kA);
  low.local.port = 1023;

  EXPECT_EQ(unprivileged.claim(low).error(), verbs::errno_code(EACCES));
  EXPECT_TRUE(table_.claim(low));
  low.local.port = 1024;
  EXPECT_TRUE(unprivileged.claim(low));
}

Claim ephemeral(const Address& ip) {
  Claim claim = claim_of(ip);
  claim.local.port = 0;
  return claim;
}

TEST_F(PortTableTest, EphemeralPortsStayInTheirRange) {
  for (int i = 0; i < 1000; ++i) {
    const std::uint16_t port = table_.claim(ephemeral(kAny4)).value().port;
    EXPECT_GE(port, 32768);
    EXPECT_LE(port, 60999);
  }
}

TEST_F(PortTableTest, EphemeralRangeRunsOut) {
  LocalPortTable small(random_, {.ephemeral_first = 40000, .ephemeral_last = 40003});
  std::set<std::uint16_t> ports;
  for (int i = 0; i < 4; ++i) ports.insert(small.claim(ephemeral(kAny4)).value().port);

  EXPECT_EQ(ports, (std::set<std::uint16_t>{40000, 40001, 40002, 40003}));
  EXPECT_EQ(small.claim(ephemeral(kAny4)).error(), verbs::errno_code(EADDRNOTAVAIL));
}

TEST_F(PortTableTest, LastEphemeralPortIsNotHandedOutAgainAtOnce) {
  LocalPortTable small(random_, {.ephemeral_first = 40000, .ephemeral_last = 40001});
  for (int i = 0; i < 20; ++i) {
    const PortTable::Claimed first = small.claim(ephemeral(kAny4)).value();
    small.release(first.id);
    const PortTable::Claimed second = small.claim(ephemeral(kAny4)).value();
    small.release(second.id);
    EXPECT_NE(first.port, second.port);
  }
}

TEST_F(PortTableTest, EphemeralPortIsSharedTowardsAnotherDestination) {
  LocalPortTable small(random_, {.ephemeral_first = 40000, .ephemeral_last = 40001});
  Claim to_a = ephemeral(kAny4);
  to_a.destination = kA;
  Claim to_b = ephemeral(kAny4);
  to_b.destination = kB;
  ASSERT_TRUE(small.claim(to_a));
  ASSERT_TRUE(small.claim(to_a));

  EXPECT_TRUE(small.claim(to_b));
  EXPECT_TRUE(small.claim(to_b));
}

}  // namespace
}  // namespace anyrdma::transport::soft
