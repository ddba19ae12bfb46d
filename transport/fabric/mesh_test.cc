#include "transport/fabric/mesh.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/fabric/socket_file.h"
#include "transport/realtime/testing/child.h"
#include "transport/realtime/testing/eventually.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using realtime::testing::eventually;
using ::testing::ElementsAre;
using testing::Scratch;
using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;

/// One member: remembers the first two payload bytes of what it gets.
class Member : public Mesh::Receiver {
 public:
  Member(const MeshConfig& config) : mesh(Mesh::create(config, pool, *this).value()) {}

  void on_packet(PacketPtr packet) override {
    std::uint16_t number = 0;
    std::memcpy(&number, packet->storage.data(), sizeof number);
    numbers.push_back(number);
    last = std::move(packet);
  }
  void on_gone(Slot slot) override { gone.push_back(slot); }
  std::vector<int> gifts_for(Slot /*slot*/) override { return gives; }
  void on_gifts(Slot /*slot*/, std::uint64_t incarnation,
                std::vector<realtime::Descriptor> descriptors) override {
    giver = incarnation;
    gifts = std::move(descriptors);
  }

  PacketPtr make(std::uint16_t number, std::uint16_t size = 64) {
    PacketPtr packet = pool.take();
    packet->size = size;
    std::memset(packet->storage.data(), 0, size);
    std::memcpy(packet->storage.data(), &number, sizeof number);
    return packet;
  }
  void send(Slot to, std::uint16_t number, std::uint16_t size = 64) {
    mesh->send(to, make(number, size));
    mesh->transmit();
  }
  void step() {
    (void)mesh->poll();
    mesh->transmit();
  }
  /// Whether a packet arrives in time.
  bool hears() {
    return eventually([this] {
      step();
      return !numbers.empty();
    });
  }
  bool readable() const {
    pollfd entry{mesh->fd(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }

  PacketPool pool;
  std::vector<std::uint16_t> numbers;
  std::vector<Slot> gone;
  std::uint64_t giver = 0;
  std::vector<realtime::Descriptor> gifts;
  std::vector<int> gives;
  PacketPtr last;
  std::unique_ptr<Mesh> mesh;
};

/// Until packets go through rings in both directions.
void meet(Member& a, Member& b) {
  a.send(Slot{2}, 0);
  ASSERT_TRUE(eventually([&] {
    a.step();
    b.step();
    return b.numbers.size() == 1 && !a.readable() && !b.readable();
  }));
  b.numbers.clear();
}

class MeshTest : public ::testing::Test {
 protected:
  static constexpr Slot kA{1};
  static constexpr Slot kB{2};

  MeshConfig config(Slot self, std::uint64_t incarnation = 1) const {
    return {.uid = ::geteuid(),
            .directory = directory_.get(),
            .path = scratch_.config().directory,
            .name = "m-",
            .self = self,
            .incarnation = incarnation};
  }
  std::unique_ptr<Member> member(Slot self, std::uint64_t incarnation = 1) const {
    return std::make_unique<Member>(config(self, incarnation));
  }

 private:
  Scratch scratch_;
  const realtime::Descriptor directory_{
      ::open(scratch_.config().directory.c_str(), O_PATH | O_CLOEXEC)};
};

TEST_F(MeshTest, CarriesAPacketWithItsHeader) {
  auto a = member(kA);
  auto b = member(kB);
  PacketPtr packet = a->make(7, 4200);
  packet->traffic_class = 3;
  packet->udp_source_port = 0xc123;
  packet->hop_limit = 9;
  packet->ip_identification = 77;
  packet->ip_fragment = 0;
  packet->mark = 3;
  packet->icrc_valid = true;
  packet->source.raw[15] = 1;
  packet->destination.raw[15] = 2;
  packet->storage[4199] = 0xab;

  a->mesh->send(kB, std::move(packet));
  a->mesh->transmit();
  ASSERT_TRUE(b->hears());

  EXPECT_EQ(b->last->size, 4200);
  EXPECT_EQ(b->last->traffic_class, 3);
  EXPECT_EQ(b->last->udp_source_port, 0xc123);
  EXPECT_EQ(b->last->hop_limit, 9);
  EXPECT_EQ(b->last->ip_identification, 77);
  EXPECT_EQ(b->last->ip_fragment, 0);
  EXPECT_EQ(b->last->mark, 3u);
  EXPECT_TRUE(b->last->icrc_valid);
  EXPECT_EQ(b->last->source.raw[15], 1);
  EXPECT_EQ(b->last->destination.raw[15], 2);
  EXPECT_EQ(b->last->storage[4199], 0xab);
}

TEST_F(MeshTest, KeepsOrderInBothDirections) {
  auto a = member(kA);
  auto b = member(kB);

  for (std::uint16_t i = 0; i < 100; ++i) {
    a->send(kB, i);
    b->send(kA, i);
  }
  ASSERT_TRUE(eventually([&] {
    a->step();
    b->step();
    return a->numbers.size() == 100 && b->numbers.size() == 100;
  }));

  for (std::uint16_t i = 0; i < 100; ++i) {
    EXPECT_EQ(a->numbers[i], i);
    EXPECT_EQ(b->numbers[i], i);
  }
}

TEST_F(MeshTest, KeepsOrderWhenThePeerReadsLate) {
  constexpr std::uint16_t kMany = 5000;
  auto a = member(kA);
  auto b = member(kB);

  for (std::uint16_t i = 0; i < kMany; ++i) a->send(kB, i, 4200);
  EXPECT_GT(a->mesh->queued(), 0u);
  EXPECT_FALSE(a->readable());  // a full socket costs its owner nothing
  ASSERT_TRUE(eventually([&] {
    b->step();
    a->step();
    return b->numbers.size() == kMany;
  }));

  for (std::uint16_t i = 0; i < kMany; ++i) ASSERT_EQ(b->numbers[i], i);
  EXPECT_EQ(a->mesh->queued(), 0u);
  EXPECT_EQ(a->mesh->dropped(), 0u);
}

TEST_F(MeshTest, DropsAndCountsWhatExceedsTheBound) {
  MeshConfig small = config(kA);
  small.queue_max = 10;
  Member a(small);
  auto b = member(kB);

  for (std::uint16_t i = 0; i < 2000; ++i) a.send(kB, i, 4200);

  EXPECT_EQ(a.mesh->queued(), 10u);
  EXPECT_GT(a.mesh->dropped(), 0u);
}

TEST_F(MeshTest, SaysThatNobodyIsThere) {
  auto a = member(kA);

  a->send(kB, 1);

  EXPECT_THAT(a->gone, ElementsAre(kB));
  EXPECT_EQ(a->mesh->queued(), 0u);
}

TEST_F(MeshTest, ClosingIsSeenByThoseThatSentAndThoseThatReceived) {
  auto a = member(kA);
  auto b = member(kB);
  auto c = member(Slot{3});
  a->send(kB, 1);
  b->send(Slot{3}, 2);
  ASSERT_TRUE(b->hears());
  ASSERT_TRUE(c->hears());

  b.reset();

  ASSERT_TRUE(eventually([&] {
    a->step();
    c->step();
    return !a->gone.empty() && !c->gone.empty();
  }));
  EXPECT_THAT(a->gone, ElementsAre(kB));
  EXPECT_THAT(c->gone, ElementsAre(kB));
}

TEST_F(MeshTest, LastWordsAreHeardBeforeTheEnd) {
  auto a = member(kA);
  auto b = member(kB);
  a->send(kB, 1);
  ASSERT_TRUE(b->hears());
  for (std::uint16_t i = 0; i < 40; ++i) b->send(kA, i);
  a->send(kB, 2);  // never read: makes the end a reset

  b.reset();
  ASSERT_TRUE(eventually([&] {
    a->step();
    return !a->gone.empty();
  }));

  EXPECT_EQ(a->numbers.size(), 40u);
}

TEST_F(MeshTest, LastWordsOverAConnectionNotYetAcceptedAreHeard) {
  auto a = member(kA);
  auto b = member(kB);
  b->send(kA, 5);

  b.reset();
  a->step();
  ASSERT_TRUE(eventually([&] {
    a->step();
    return !a->gone.empty();
  }));

  EXPECT_THAT(a->numbers, ElementsAre(5));
}

TEST_F(MeshTest, ANewOwnerOfASlotIsNotTakenForTheOldOne) {
  auto a = member(kA);
  auto b = member(kB, 1);
  b->send(kA, 1);
  ASSERT_TRUE(a->hears());

  b.reset();
  b = member(kB, 2);
  b->send(kA, 2);
  ASSERT_TRUE(eventually([&] {
    a->step();
    return a->numbers.size() == 2;
  }));

  EXPECT_THAT(a->gone, ElementsAre(kB));
  a->send(kB, 3);
  ASSERT_TRUE(eventually([&] {
    b->step();
    return !b->numbers.empty();
  }));
}

TEST_F(MeshTest, ANewOwnersPacketsComeOnceTheOldOnesEndIsDealtWith) {
  auto a = member(kA);
  const auto old = member(kB, 1);  // whose end nobody sees: a fork of it has the same sockets
  old->send(kA, 1);
  ASSERT_TRUE(a->hears());

  const auto b = member(kB, 2);
  b->send(kA, 2);
  ASSERT_TRUE(eventually([&] {
    (void)a->mesh->poll();
    return !a->gone.empty();
  }));

  EXPECT_THAT(a->numbers, ElementsAre(1));
  ASSERT_TRUE(eventually([&] {
    a->step();
    return a->numbers.size() == 2;
  }));
}

TEST_F(MeshTest, AKilledProcessIsSeenToGo) {
  auto a = member(kA);
  Child child([this](const Child::Line& line) {
    auto b = member(kB);
    b->send(kA, 1);
    line.send('s');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 's');
  ASSERT_TRUE(a->hears());
  EXPECT_TRUE(a->gone.empty());

  child.kill();

  ASSERT_TRUE(eventually([&] {
    a->step();
    return !a->gone.empty();
  }));
}

TEST_F(MeshTest, FlushingWaitsForASlowReader) {
  auto a = member(kA);
  constexpr std::uint16_t kMany = 2000;
  Child child([this](const Child::Line& line) {
    auto b = member(kB);
    line.send('r');
    while (b->numbers.size() < kMany) b->step();
    return 0;
  });
  ASSERT_EQ(child.receive(), 'r');
  for (std::uint16_t i = 0; i < kMany; ++i) a->send(kB, i, 4200);

  a->mesh->flush(std::chrono::seconds(10));

  EXPECT_EQ(a->mesh->queued(), 0u);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(MeshTest, FlushingGivesUpOnAPeerThatDoesNotRead) {
  auto a = member(kA);
  auto b = member(kB);
  for (std::uint16_t i = 0; i < 2000; ++i) a->send(kB, i, 4200);

  a->mesh->flush(std::chrono::milliseconds(1));

  EXPECT_GT(a->mesh->queued(), 0u);
}

TEST_F(MeshTest, GarbageEndsTheConnectionOnly) {
  auto a = member(kA);
  const MeshConfig its = config(kA);
  const SocketFile address(its.directory, its.path, its.name + "1");
  const Preamble other_version = Hello{.version = kMeshVersion + 1, .slot = kB}.serialize();
  const Preamble no_slot = [] {
    Preamble bytes = Hello{}.serialize();
    bytes[4] = 0xff;
    return bytes;
  }();
  const Preamble packet_first = preamble_of(*a->make(1));
  const Preamble too_short{};
  const std::pair<const Preamble*, std::size_t> messages[] = {
      {&other_version, 44}, {&no_slot, 44}, {&packet_first, 44}, {&too_short, 3}};
  for (const auto& [bytes, size] : messages) {
    realtime::Descriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(fd.get(), address.get(), address.length), 0);
    ASSERT_EQ(::send(fd.get(), bytes->data(), size, 0), static_cast<ssize_t>(size));
    a->step();
    a->step();
    char byte = 0;
    EXPECT_EQ(::recv(fd.get(), &byte, 1, MSG_DONTWAIT), 0);
  }

  EXPECT_TRUE(a->numbers.empty());
  auto b = member(kB);
  b->send(kA, 1);
  ASSERT_TRUE(a->hears());
}

TEST_F(MeshTest, PacketsNeedNoSystemCallOnceBothHaveARing) {
  auto a = member(kA);
  auto b = member(kB);
  meet(*a, *b);
  b->mesh->set_awake(true);

  a->send(kB, 5);

  EXPECT_FALSE(b->readable());
  (void)b->mesh->glance();
  EXPECT_THAT(b->numbers, ElementsAre(5));
}

TEST_F(MeshTest, WhoSleepsIsToldOfAPacketInTheRing) {
  auto a = member(kA);
  auto b = member(kB);
  meet(*a, *b);
  b->step();
  ASSERT_FALSE(b->readable());

  a->send(kB, 5);

  EXPECT_TRUE(b->readable());
  b->step();
  EXPECT_THAT(b->numbers, ElementsAre(5));
  EXPECT_FALSE(b->readable());
}

TEST_F(MeshTest, WhatCameJustBeforeFallingAsleepIsFound) {
  auto a = member(kA);
  auto b = member(kB);
  meet(*a, *b);
  b->mesh->set_awake(true);
  a->send(kB, 5);

  b->mesh->set_awake(false);

  EXPECT_TRUE(b->mesh->has_more());
  b->step();
  EXPECT_THAT(b->numbers, ElementsAre(5));
  EXPECT_FALSE(b->mesh->has_more());
}

TEST_F(MeshTest, WhoWaitsForRoomInARingIsToldOfIt) {
  auto a = member(kA);
  auto b = member(kB);
  meet(*a, *b);
  std::uint16_t sent = 0;
  while (a->mesh->queued() < 10) a->send(kB, sent++, 4200);
  a->step();
  ASSERT_FALSE(a->readable());

  while (b->numbers.size() + a->mesh->queued() < sent) b->step();

  EXPECT_TRUE(a->readable());
  ASSERT_TRUE(eventually([&] {
    a->step();
    b->step();
    return b->numbers.size() == sent;
  }));
  for (std::uint16_t i = 0; i < sent; ++i) ASSERT_EQ(b->numbers[i], i);
}

TEST_F(MeshTest, LastWordsInTheRingAreHeardBeforeTheEnd) {
  auto a = member(kA);
  auto b = member(kB);
  meet(*a, *b);
  for (std::uint16_t i = 0; i < 40; ++i) b->send(kA, i);

  b.reset();
  ASSERT_TRUE(eventually([&] {
    a->step();
    return !a->gone.empty();
  }));

  EXPECT_EQ(a->numbers.size(), 40u);
}

TEST_F(MeshTest, WithoutRingsOnOneSideAllGoesThroughSockets) {
  MeshConfig without = config(kA);
  without.rings = false;
  Member a(without);
  auto b = member(kB);

  for (std::uint16_t i = 0; i < 100; ++i) {
    a.send(kB, i);
    b->send(kA, i);
    a.step();
    b->step();
  }

  ASSERT_TRUE(eventually([&] {
    a.step();
    b->step();
    return a.numbers.size() == 100 && b->numbers.size() == 100;
  }));
  for (std::uint16_t i = 0; i < 100; ++i) {
    ASSERT_EQ(a.numbers[i], i);
    ASSERT_EQ(b->numbers[i], i);
  }
}

TEST_F(MeshTest, WithoutDescriptorsAllGoesThroughSockets) {
  auto a = member(kA);
  Child child([this](const Child::Line& line) {
    auto b = member(kB);
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int next = ::dup(0);
    ::close(next);
    limit.rlim_cur = static_cast<rlim_t>(next) + 1;  // a socket, and nothing that comes along
    ::setrlimit(RLIMIT_NOFILE, &limit);
    b->send(kA, 1);
    line.send('s');
    const bool heard = eventually([&] {
      b->step();
      return b->numbers.size() == 50;
    });
    b->send(kA, 2);
    return heard ? 0 : 1;
  });
  ASSERT_EQ(child.receive(), 's');
  ASSERT_TRUE(a->hears());

  for (std::uint16_t i = 0; i < 50; ++i) a->send(kB, i);

  EXPECT_EQ(child.wait(), 0);
  ASSERT_TRUE(eventually([&] {
    a->step();
    return !a->gone.empty();
  }));
  EXPECT_THAT(a->numbers, ElementsAre(1, 2));
}

TEST_F(MeshTest, GiftsReachBothSidesBeforeAnyPacket) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const realtime::Descriptor in(pipe[0]);
  const realtime::Descriptor out(pipe[1]);
  Member a(config(kA, 17));
  a.gives = {in.get()};
  Member b(config(kB, 18));
  b.gives = {out.get()};

  a.send(kB, 1);
  ASSERT_TRUE(b.hears());
  ASSERT_EQ(b.giver, 17u);
  b.send(kA, 2);
  ASSERT_TRUE(a.hears());

  ASSERT_EQ(a.giver, 18u);
  ASSERT_EQ(::write(a.gifts.at(0).get(), "x", 1), 1);
  char byte = 0;
  ASSERT_EQ(::read(b.gifts.at(0).get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(MeshTest, TheSocketOfAKilledProcessIsReplaced) {
  Child child([this](const Child::Line& line) {
    const auto killed = member(kB);
    line.send('l');
    return line.receive();
  });
  ASSERT_EQ(child.receive(), 'l');
  child.kill();
  auto a = member(kA);
  auto b = member(kB, 2);

  a->send(kB, 7);

  EXPECT_TRUE(b->hears());
}

TEST_F(MeshTest, NetworkNamespacesDoNotMatter) {
  Child child([this](const Child::Line& line) {
    if (::unshare(CLONE_NEWNET) != 0) return line.send('-'), 0;
    auto b = member(kB);
    line.send('l');
    return b->hears() && b->numbers.front() == 7 ? 0 : 1;
  });
  if (child.receive() == '-') GTEST_SKIP() << "network namespaces take CAP_SYS_ADMIN";
  auto a = member(kA);

  a->send(kB, 7);

  EXPECT_EQ(child.wait(), 0);
}

TEST_F(MeshTest, ADirectoryWhosePathIsTooLongForAnAddressWorks) {
  MeshConfig far = config(kA);
  far.path += "/" + std::string(150, 'x');
  ASSERT_EQ(::mkdir(far.path.c_str(), 0700), 0);
  const realtime::Descriptor directory(::open(far.path.c_str(), O_PATH | O_CLOEXEC));
  far.directory = directory.get();
  Member a(far);
  far.self = kB;
  Member b(far);

  a.send(kB, 7);

  EXPECT_TRUE(b.hears());
}

}  // namespace
}  // namespace anyrdma::transport::fabric
