// Datagrams and multicast between members of one fabric, in one process and in several.
#include <gtest/gtest.h>

#include <memory>

#include "transport/fabric/fabric.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/realtime/testing/child.h"
#include "transport/realtime/testing/eventually.h"
#include "transport/soft/address.h"
#include "verbs/testing/datagram_member.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using realtime::testing::eventually;
using testing::Scratch;
using verbs::testing::DatagramMember;

constexpr std::uint32_t kLoopbackIndex = 1;  // of every process's GID table

ibv_gid loopback() {
  return soft::Address::loopback(AF_INET).gid();
}

ibv_gid group() {
  return soft::Address::ipv4(0xef010101).gid();
}

/// A process of the fabric with one datagram queue pair.
struct Party {
  explicit Party(const Scratch& scratch) : fabric(Fabric::open(scratch.config()).value()) {}
  [[nodiscard]] std::unique_ptr<DatagramMember> make_member() const {
    ibv_device* const device = fabric->transport().devices()[0];
    return std::make_unique<DatagramMember>(fabric->transport().provider_of(device), device,
                                            kLoopbackIndex);
  }

  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<DatagramMember> member = make_member();
};

class FabricDatagrams : public ::testing::Test {
 protected:
  Scratch scratch;
};

TEST_F(FabricDatagrams, FindTheQueuePairOfAnotherMember) {
  Party a(scratch);
  Party b(scratch);

  a.member->send(loopback(), b.member->qpn(), 'b');

  EXPECT_TRUE(eventually([&] { return b.member->received() == 1; }));
  EXPECT_EQ(b.member->last_letter(), 'b');
}

TEST_F(FabricDatagrams, ToAGroupReachAllMembersButTheSender) {
  Party a(scratch);
  Party b(scratch);
  const auto neighbour = a.make_member();
  for (DatagramMember* each : {a.member.get(), b.member.get(), neighbour.get()})
    each->attach(group());

  a.member->send_to_group(group());
  b.member->send_to_group(group());

  EXPECT_TRUE(eventually([&] { return neighbour->received() == 2; }));
  EXPECT_TRUE(eventually([&] { return a.member->received() == 1; }));
  EXPECT_TRUE(eventually([&] { return b.member->received() == 1; }));
}

TEST_F(FabricDatagrams, ToAGroupReachOtherProcesses) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer cannot follow threads of a child whose parent had some";
#endif
  Child child([this](const Child::Line& line) {
    Party party(scratch);
    party.member->attach(group());
    line.send('r');
    return eventually([&] { return party.member->received() == 1; }) ? 0 : 1;
  });
  ASSERT_EQ(child.receive(), 'r');
  Party sender(scratch);

  sender.member->send_to_group(group());

  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace anyrdma::transport::fabric
