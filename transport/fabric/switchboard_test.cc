#include "transport/fabric/switchboard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "transport/fabric/rendezvous/registry.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"
#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/ibcm/wire/sidr_req.h"
#include "transport/realtime/system_random.h"
#include "transport/soft/cma_header.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::transport::fabric {
namespace {

using soft::Address;
using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;
using wire::CommId;
using wire::Qpn;

constexpr std::uint32_t kLocalhost = 0x7f000001;
constexpr std::uint16_t kPort = 7471;

class SwitchboardTest : public ::testing::Test {
 protected:
  PacketPtr to_qp(Qpn qpn) {
    PacketPtr packet = pool.take();
    std::memset(packet->storage.data(), 0, 300);
    roce::Bth bth;
    bth.destination = qpn;
    bth.serialize(std::span(packet->storage).first<roce::Bth::kBytes>());
    packet->size = 280;
    return packet;
  }
  template <class Message>
  PacketPtr mad(const Message& message) {
    PacketPtr packet = to_qp(wire::kGsiQpn);
    message.serialize(ibcm::wire::MadBuffer(packet->storage.data() + 20, ibcm::wire::kMadSize));
    return packet;
  }
  PacketPtr request(std::uint32_t address, std::uint16_t port) {
    std::array<std::uint8_t, soft::CmaHeader::kSize> header{};
    soft::CmaHeader{Address::ipv4(kLocalhost, 40000), Address::ipv4(address)}.serialize(header);
    ibcm::wire::Req req;
    req.local_comm_id = CommId{7};
    req.service_id = wire::ServiceId{std::uint64_t{RDMA_PS_TCP} << 16 | port};
    req.private_data = header;
    return mad(req);
  }
  void listen(Registry& registry, const Address& local, rdma_port_space space = RDMA_PS_TCP) {
    const auto claimed = registry.claim({.space = space, .local = local}).value();
    registry.listen(claimed.id).value();
  }
  void expect(Audience audience, const PacketPtr& packet, Slot slot) {
    const Destination destination = destination_of(*packet, *mine);
    EXPECT_EQ(destination.audience, audience);
    EXPECT_EQ(destination.slot, slot);
  }
  void expect_one(const PacketPtr& packet, Slot slot) { expect(Audience::kOne, packet, slot); }

  testing::Scratch scratch;
  realtime::SystemRandom random;
  PacketPool pool;
  std::unique_ptr<Registry> mine = Registry::join(scratch.config(), random).value();
  std::unique_ptr<Registry> other = Registry::join(scratch.config(), random).value();
};

TEST_F(SwitchboardTest, AQueuePairsNumberNamesItsProcess) {
  expect_one(to_qp(Qpn{first_qpn(Slot{5}) + 100}), Slot{5});
  expect_one(to_qp(Qpn{first_qpn(Slot{1023}) + kQpnCount - 1}), Slot{1023});
}

TEST_F(SwitchboardTest, ARequestGoesToTheListener) {
  listen(*other, Address::ipv4(kLocalhost, kPort));

  expect_one(request(kLocalhost, kPort), other->slot());
  EXPECT_EQ(destination_of(*request(kLocalhost, kPort), *mine).request, CommId{7});
}

TEST_F(SwitchboardTest, ARequestThatNobodyListensForIsUnclaimed) {
  listen(*other, Address::ipv4(kLocalhost, kPort));

  expect(Audience::kUnclaimed, request(kLocalhost, kPort + 1), mine->slot());
}

TEST_F(SwitchboardTest, ARequestToAnotherAddressOfAListenersPortComesToTheListener) {
  listen(*other, Address::ipv4(kLocalhost, kPort));

  expect_one(request(kLocalhost + 1, kPort), other->slot());
}

TEST_F(SwitchboardTest, AnAnswerGoesToTheMakerOfTheRemoteCommId) {
  const CommId remote{comm_id_tag(Slot{77}) | 0x1234};
  expect_one(mad(ibcm::wire::Rep{.remote_comm_id = remote}), Slot{77});
  expect_one(mad(ibcm::wire::Rtu{.remote_comm_id = remote}), Slot{77});
  expect_one(mad(ibcm::wire::Rej{.remote_comm_id = remote}), Slot{77});
  expect_one(mad(ibcm::wire::Mra{.remote_comm_id = remote}), Slot{77});
  expect_one(mad(ibcm::wire::Dreq{.remote_comm_id = remote}), Slot{77});
  expect_one(mad(ibcm::wire::Drep{.remote_comm_id = remote}), Slot{77});
}

TEST_F(SwitchboardTest, AServiceResolutionFindsTheListenerAndTheWayBack) {
  std::array<std::uint8_t, soft::CmaHeader::kSize> header{};
  soft::CmaHeader{Address::ipv4(kLocalhost, 40000), Address::ipv4(kLocalhost)}.serialize(header);
  const ibcm::wire::SidrReq request{
      .request_id = CommId{comm_id_tag(Slot{77}) | 7},
      .service_id = wire::ServiceId{std::uint64_t{RDMA_PS_UDP} << 16 | kPort},
      .private_data = header};
  expect(Audience::kUnclaimed, mad(request), mine->slot());  // nobody listens

  listen(*other, Address::ipv4(kLocalhost, kPort), RDMA_PS_UDP);

  expect_one(mad(request), other->slot());
  expect_one(mad(ibcm::wire::SidrRep{.request_id = request.request_id}), Slot{77});
}

TEST_F(SwitchboardTest, ARejectThatNamesNobodyGoesToEverybody) {
  EXPECT_EQ(destination_of(*mad(ibcm::wire::Rej{.reason = 4}), *mine).audience,
            Audience::kEveryone);
}

TEST_F(SwitchboardTest, MulticastGoesToEverybody) {
  EXPECT_EQ(destination_of(*to_qp(wire::kMulticastQpn), *mine).audience, Audience::kEveryone);
}

TEST_F(SwitchboardTest, WhatIsNoPacketGoesNowhere) {
  PacketPtr packet = to_qp(wire::kGsiQpn);
  for (const std::uint16_t size : std::initializer_list<std::uint16_t>{0, 11, 12, 275}) {
    packet->size = size;
    EXPECT_EQ(destination_of(*packet, *mine).audience, Audience::kNobody) << size;
  }
}

TEST_F(SwitchboardTest, AMadOfAnotherClassStaysHere) {
  expect_one(to_qp(wire::kGsiQpn), mine->slot());
}

}  // namespace
}  // namespace anyrdma::transport::fabric
