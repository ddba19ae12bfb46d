// Peers that do not do as our software does: of the same user, or nobody would listen to them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport/fabric/descriptor_passing.h"
#include "transport/fabric/mesh.h"
#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/fabric/socket_file.h"
#include "transport/realtime/testing/eventually.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::eventually;
using testing::Scratch;
using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;

constexpr Slot kVictim{1};
constexpr Slot kStranger{2};

class MeshAttack : public ::testing::Test, private Mesh::Receiver {
 protected:
  void step() {
    (void)mesh->poll();
    mesh->transmit();
  }
  /// A connection to the victim.
  [[nodiscard]] realtime::Descriptor connect() const {
    const SocketFile address(config.directory, config.path, config.name + "1");
    realtime::Descriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), address.get(), address.length), 0);
    return fd;
  }
  static void say_hello(const realtime::Descriptor& fd, const std::vector<int>& along,
                        std::size_t claimed) {
    const Hello hello{.slot = kStranger,
                      .descriptors = static_cast<std::uint8_t>(claimed),
                      .ring = true,
                      .incarnation = 7};
    EXPECT_GT(send_message(fd.get(), hello.serialize(), along), 0);
  }
  static void send(const realtime::Descriptor& fd, MessageKind kind) {
    EXPECT_GT(send_message(fd.get(), notice(kind), {}), 0);
  }
  /// Whether the victim has ended it.
  [[nodiscard]] bool ended(const realtime::Descriptor& fd) {
    return eventually([&] {
      step();
      Preamble bytes;
      return receive_message(fd.get(), bytes).size == 0;
    });
  }

  Scratch scratch;
  const realtime::Descriptor directory{
      ::open(scratch.config().directory.c_str(), O_PATH | O_CLOEXEC)};
  PacketPool pool;
  const MeshConfig config{.uid = ::geteuid(),
                          .directory = directory.get(),
                          .path = scratch.config().directory,
                          .name = "m-",
                          .self = kVictim,
                          .incarnation = 1};
  std::unique_ptr<Mesh> mesh = Mesh::create(config, pool, *this).value();
  std::size_t packets = 0;
  std::vector<Slot> gone;

 private:
  void on_packet(PacketPtr /*packet*/) override { ++packets; }
  void on_gone(Slot slot) override { gone.push_back(slot); }
};

TEST_F(MeshAttack, MemoryThatCouldShrinkEndsTheConnection) {
  const realtime::Descriptor memory(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(memory.get(), kRingBytes), 0);
  const realtime::Descriptor fd = connect();

  say_hello(fd, {memory.get()}, 1);

  EXPECT_TRUE(ended(fd));
}

TEST_F(MeshAttack, DescriptorsThatDoNotComeAreNotMissed) {
  const realtime::Descriptor fd = connect();

  say_hello(fd, {}, 3);
  EXPECT_TRUE(eventually([&] {
    step();
    Preamble bytes;
    return receive_message(fd.get(), bytes).size == std::ssize(bytes);
  }));

  EXPECT_TRUE(gone.empty());
}

TEST_F(MeshAttack, GarbageInTheRingEndsTheConnection) {
  realtime::Descriptor descriptor;
  const realtime::SharedMemory memory =
      realtime::SharedMemory::create(kRingBytes, descriptor).value();
  const realtime::Descriptor fd = connect();
  say_hello(fd, {descriptor.get()}, 1);
  std::memset(memory.bytes().data() + kRingControlBytes, 0xff, kRingDataBytes);

  send(fd, MessageKind::kRingBegins);

  EXPECT_TRUE(ended(fd));
  EXPECT_EQ(packets, 0u);
  EXPECT_EQ(gone, std::vector<Slot>{kStranger});
}

TEST_F(MeshAttack, NoticesThatMakeNoSenseEndTheConnection) {
  for (const auto& notices :
       std::vector<std::vector<MessageKind>>{{MessageKind::kRingBegins},
                                             {MessageKind::kRingTaken, MessageKind::kRingTaken},
                                             {MessageKind::kHello},
                                             {static_cast<MessageKind>(9)}}) {
    const realtime::Descriptor fd = connect();
    say_hello(fd, {}, 0);

    for (const MessageKind kind : notices) send(fd, kind);

    EXPECT_TRUE(ended(fd));
  }
}

TEST_F(MeshAttack, PacketsThroughTheSocketAfterTheRingHasBegunEndTheConnection) {
  realtime::Descriptor descriptor;
  const realtime::SharedMemory memory =
      realtime::SharedMemory::create(kRingBytes, descriptor).value();
  const realtime::Descriptor fd = connect();
  say_hello(fd, {descriptor.get()}, 1);
  step();  // its connection is accepted
  step();  // its hello is read
  send(fd, MessageKind::kRingBegins);

  EXPECT_GT(send_message(fd.get(), preamble_of(*pool.take()), {}), 0);

  EXPECT_TRUE(ended(fd));
  EXPECT_EQ(packets, 0u);
}

TEST_F(MeshAttack, WhoGoesOnSendingAfterTheEndIsNotListenedToForEver) {
  constexpr int kFlood = 1 << 16;
  const realtime::Descriptor fd = connect();
  say_hello(fd, {}, 0);
  std::atomic<int> error = 0;
  std::thread flooder([&] {
    const Preamble packet = preamble_of(*PacketPool().take());
    send(fd, MessageKind::kHello);  // a second one makes no sense
    for (int i = 0; i < kFlood && error == 0; ++i)
      if (send_message(fd.get(), packet, {}) < 0 && errno != EAGAIN) error = errno;
  });

  EXPECT_TRUE(eventually([&] {
    step();
    return !gone.empty();
  }));
  flooder.join();

  EXPECT_LT(packets, static_cast<std::size_t>(kFlood));
}

TEST_F(MeshAttack, AHelloOfASlotThatThereIsNotOrOfOurOwnHarmsNobody) {
  for (const std::uint16_t slot : {std::uint16_t{kSlotCount}, std::uint16_t{0xffff}}) {
    const realtime::Descriptor fd = connect();
    const Hello hello{.slot = static_cast<Slot>(slot), .incarnation = 7};
    EXPECT_GT(send_message(fd.get(), hello.serialize(), {}), 0);
    EXPECT_TRUE(ended(fd));
  }
  const realtime::Descriptor fd = connect();
  EXPECT_GT(send_message(fd.get(), Hello{.slot = kVictim, .incarnation = 7}.serialize(), {}), 0);
  send(fd, MessageKind::kHello);
  EXPECT_TRUE(ended(fd));
}

}  // namespace
}  // namespace anyrdma::transport::fabric
