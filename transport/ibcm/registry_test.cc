#include "transport/ibcm/registry.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace anyrdma::ibcm {
namespace {

/// Gives the same numbers over and over.
class Scripted final : public verbs::Random {
 public:
  explicit Scripted(std::vector<std::uint64_t> numbers) : numbers_(std::move(numbers)) {}
  std::uint64_t next() override { return numbers_[at_++ % numbers_.size()]; }

 private:
  std::vector<std::uint64_t> numbers_;
  std::size_t at_ = 0;
};

Connection* listed(Registry& registry, std::uint32_t id, std::uint32_t qpn, std::uint64_t guid) {
  Connection* c = registry.create();
  c->remote_id = CommId{id};
  c->remote_qpn = Qpn{qpn};
  c->remote_guid = Guid{guid};
  registry.list_by_peer(*c);
  return c;
}

TEST(Registry, IdsComeFromTheRandomStream) {
  Scripted random({0x1234567855667788, 0x99});
  Registry registry({}, random);

  EXPECT_EQ(registry.create()->local_id, CommId{0x55667788});
  EXPECT_EQ(registry.create()->local_id, CommId{0x99});
}

TEST(Registry, NoIdIsZeroOrTaken) {
  Scripted random({0, 7, 7, 0, 8});
  Registry registry({}, random);

  EXPECT_EQ(registry.create()->local_id, CommId{7});
  EXPECT_EQ(registry.create()->local_id, CommId{8});
}

TEST(Registry, AStuckRandomStreamStillFindsEveryIdOfTheMask) {
  Scripted random({0xffffffff});
  Registry registry({.mask = 0x00f0, .tag = 0x1001}, random);
  std::set<std::uint32_t> ids;

  for (int i = 0; i < 16; ++i) ids.insert(value(registry.create()->local_id));

  EXPECT_EQ(ids.size(), 16u);
  EXPECT_EQ(*ids.begin(), 0x1001u);
  EXPECT_EQ(*ids.rbegin(), 0x10f1u);
  EXPECT_EQ(registry.create(), nullptr);
}

TEST(Registry, BitsOfTheTagDoNotCountAsMask) {
  Scripted random({1, 2, 3});
  Registry registry({.mask = 0x3, .tag = 0x2}, random);

  EXPECT_EQ(registry.create()->local_id, CommId{3});
  EXPECT_EQ(registry.create()->local_id, CommId{2});
  EXPECT_EQ(registry.create(), nullptr);
}

TEST(Registry, FindsByOwnIdAndByThePeers) {
  Scripted random({1, 2, 3});
  Registry registry({}, random);

  Connection* c = listed(registry, 10, 20, 30);

  EXPECT_EQ(registry.find(c->local_id), c);
  EXPECT_EQ(registry.find(CommId{77}), nullptr);
  EXPECT_EQ(registry.find_by_remote_id(CommId{10}, Guid{30}), c);
  EXPECT_EQ(registry.find_by_remote_qpn(Qpn{20}, Guid{30}), c);
  EXPECT_EQ(registry.find_by_remote_id(CommId{10}, Guid{31}), nullptr);
  EXPECT_EQ(registry.find_by_remote_qpn(Qpn{20}, Guid{31}), nullptr);
}

TEST(Registry, PeersOfTwoHostsMayUseTheSameNumbers) {
  Scripted random({1, 2, 3});
  Registry registry({}, random);

  Connection* a = listed(registry, 10, 20, 30);
  Connection* b = listed(registry, 10, 20, 31);

  EXPECT_EQ(registry.find_by_remote_id(CommId{10}, Guid{30}), a);
  EXPECT_EQ(registry.find_by_remote_id(CommId{10}, Guid{31}), b);
}

TEST(Registry, UnlistingMakesRoomForAnother) {
  Scripted random({1, 2, 3});
  Registry registry({}, random);
  Connection* a = listed(registry, 10, 20, 30);

  registry.unlist_by_peer(*a);
  registry.unlist_by_peer(*a);  // nothing happens

  EXPECT_EQ(registry.find_by_remote_id(CommId{10}, Guid{30}), nullptr);
  EXPECT_NE(listed(registry, 10, 20, 30), a);
}

TEST(Registry, AReleasedObjectStartsAfresh) {
  Scripted random({1, 2, 3});
  Registry registry({}, random);
  Connection* a = registry.create();
  const CommId id = a->local_id;
  a->state = State::kEstablished;

  registry.release(*a);

  EXPECT_EQ(registry.find(id), nullptr);
  EXPECT_EQ(registry.size(), 0u);
  Connection* b = registry.create();
  EXPECT_EQ(b, a);
  EXPECT_EQ(b->state, State::kIdle);
}

TEST(Registry, VisitsTheLivingInTheOrderOfTheirMemory) {
  Scripted random({5, 4, 3, 2, 1});
  Registry registry({}, random);
  Connection* a = registry.create();
  Connection* b = registry.create();
  Connection* c = registry.create();
  registry.release(*b);
  std::vector<Connection*> seen;

  registry.for_each([&seen](Connection& connection) { seen.push_back(&connection); });

  EXPECT_EQ(seen, (std::vector{a, c}));
}

TEST(Registry, ARequestIsFoundByItsIdAndItsSender) {
  Scripted random({1, 2, 3});
  Registry registry({}, random);
  Connection* c = registry.create();
  c->remote_id = CommId{7};
  c->path.destination.back() = 9;
  registry.list_by_request(*c);
  Path other;

  EXPECT_EQ(registry.find_by_request(CommId{7}, c->path), c);
  EXPECT_EQ(registry.find_by_request(CommId{8}, c->path), nullptr);
  EXPECT_EQ(registry.find_by_request(CommId{7}, other), nullptr);

  registry.unlist_by_request(*c);
  EXPECT_EQ(registry.find_by_request(CommId{7}, c->path), nullptr);
}

}  // namespace
}  // namespace anyrdma::ibcm
