// transport/fabric/packet_ring.cc, as it is, under every order of its accesses; and with one
// mistake each, which must be found.
#include "transport/fabric/packet_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <memory>
#include <span>

#include "tests/interleavings/explorer.h"

namespace anyrdma::interleavings {
namespace {

using transport::fabric::kRingBytes;
using transport::fabric::kRingControlBytes;
using transport::fabric::PacketRingReader;
using transport::fabric::PacketRingWriter;
using transport::fabric::packet_ring::Control;
using verbs::soft::Packet;
using Written = PacketRingWriter::Written;
using Got = PacketRingReader::Got;
using Kind = Access::Kind;
using Mistake = std::function<void(Access&)>;

/// With its record, and without a path, 4096 bytes.
constexpr std::uint16_t kLong = 4096 - 16;

struct alignas(4096) Bytes {
  std::array<std::byte, kRingBytes> bytes{};
};
Bytes& bytes() {
  static const auto once = std::make_unique<Bytes>();
  return *once;
}

/// Both ends, and who owns which: a thread uses its own end only.
struct Ring {
  PacketRingWriter writer{bytes().bytes};
  PacketRingReader reader{bytes().bytes};
  Packet out;
  Packet in;
  Bell reader_bell;
  Bell writer_bell;
  std::uint8_t sent = 0;
  std::uint8_t got = 0;

  /// The next packet, whose contents follow from its number.
  Written write(std::uint16_t size) {
    out.size = size;
    out.hop_limit = sent;
    std::memset(out.storage.data(), sent, size);
    const Written written = writer.write(out);
    if (written == Written::kYes) ++sent;
    return written;
  }
  bool read() {
    const Got found = reader.read(in);
    require(found != Got::kBroken, "the reader finds nonsense");
    if (found != Got::kPacket) return false;
    require(in.hop_limit == got, "a packet is lost, or comes twice");
    std::array<std::uint8_t, kLong> sent_bytes;
    sent_bytes.fill(got);
    require(std::memcmp(in.storage.data(), sent_bytes.data(), in.size) == 0,
            "a packet's contents are not what was sent");
    ++got;
    return true;
  }
};

/// A ring that has been used, as it was then; made once.
class Stage {
 public:
  explicit Stage(const std::function<void(Ring&)>& use) {
    bytes() = {};
    use(ring_);
    *bytes_ = bytes();
  }
  /// Once per run.
  [[nodiscard]] std::shared_ptr<Ring> set() const {
    bytes() = *bytes_;
    auto ring = std::make_shared<Ring>();
    ring->writer = ring_.writer;
    ring->reader = ring_.reader;
    ring->sent = ring_.sent;
    ring->got = ring_.got;
    share(&bytes(), sizeof(Bytes), "ring");
    return ring;
  }

 private:
  Ring ring_;
  std::unique_ptr<Bytes> bytes_ = std::make_unique<Bytes>();
};

using Part = void (*)(Ring&);
void nothing(Ring& /*ring*/) {}
Findings explore_ring(const Stage& stage, Part writer, Part reader, const Mistake& mistake = {},
                      Part at_first = nothing) {
  const Findings findings = explore(
      [&] {
        auto ring = stage.set();
        at_first(*ring);
        return Scenario{{[=] { writer(*ring); }, [=] { reader(*ring); }}, [=] {
                          while (ring->read()) {
                          }
                          require(ring->got == ring->sent, "a packet is lost");
                        }};
      },
      {.mistake = mistake});
  std::cout << findings.runs << " runs, " << findings.steps << " steps\n";
  return findings;
}

void expect_right(const Findings& findings) {
  EXPECT_EQ(findings.error, "") << findings.story;
  EXPECT_TRUE(findings.complete);
  EXPECT_GT(findings.runs, 5u) << "nothing was watched";
}

bool in_data(const Access& access) {
  return access.offset >= kRingControlBytes;
}

// --- publication --------------------------------------------------------------------------------

void write_three(Ring& ring) {
  for (const std::uint16_t size : std::array<std::uint16_t, 3>{8, 100, 0}) (void)ring.write(size);
}
void read_some(Ring& ring) {
  for (int i = 0; i < 4; ++i) (void)ring.read();
}

/// The next packet does not fit in front of the end.
void fill_to_the_end(Ring& ring) {
  for (int i = 0; i < 63; ++i) {
    EXPECT_EQ(ring.write(kLong), Written::kYes);
    EXPECT_TRUE(ring.read());
  }
  EXPECT_EQ(ring.write(kLong - 128), Written::kYes);
  EXPECT_TRUE(ring.read());
}

TEST(PacketRing, WhatIsReadIsWhatWasWritten) {
  expect_right(explore_ring(Stage(nothing), write_three, read_some));
}

TEST(PacketRing, WhatIsReadIsWhatWasWrittenBeyondTheEnd) {
  expect_right(explore_ring(Stage(fill_to_the_end), write_three, read_some));
}

TEST(PacketRing, FindsPacketsThatAreNotReleased) {
  const Findings findings =
      explore_ring(Stage(nothing), write_three, read_some, [](Access& access) {
        if (access.kind == Kind::kStore && in_data(access))
          access.order = std::memory_order_relaxed;
      });
  EXPECT_NE(findings.error.find("a race: thread 1 reads"), std::string::npos);
}

TEST(PacketRing, FindsPacketsThatAreNotAcquired) {
  const Findings findings =
      explore_ring(Stage(nothing), write_three, read_some, [](Access& access) {
        if (access.kind == Kind::kLoad && in_data(access)) access.order = std::memory_order_relaxed;
      });
  EXPECT_NE(findings.error.find("a race: thread 1 reads"), std::string::npos);
}

// --- room ---------------------------------------------------------------------------------------

void fill(Ring& ring) {
  while (ring.write(kLong) == Written::kYes) {
  }
}
/// As Mesh::write_waiting and look_for_room.
void write_when_there_is_room(Ring& ring) {
  const std::uint8_t before = ring.sent;
  while (ring.sent == before) {
    if (ring.write(kLong) == Written::kYes) return;
    ring.writer.wait_for_room();
    if (ring.write(kLong) == Written::kYes) return;
    ring.writer_bell.wait();
  }
}
void write_without_a_second_try(Ring& ring) {
  if (ring.write(kLong) == Written::kYes) return;
  ring.writer.wait_for_room();
  ring.writer_bell.wait();
}
/// As Mesh::take_from_ring.
void read_and_tell(Ring& ring) {
  for (int i = 0; i < 9; ++i) {  // the writer hears of the eighth
    require(ring.read(), "it was there before");
    if (ring.reader.writer_waits()) ring.writer_bell.ring();
  }
}

bool of_room(const Access& access) {
  return access.offset == offsetof(Control, writer_waits);
}

TEST(PacketRing, WhoeverWaitsForRoomIsTold) {
  expect_right(explore_ring(Stage(fill), write_when_there_is_room, read_and_tell));
}

TEST(PacketRing, FindsThatOneMustTryAgainAfterAsking) {
  EXPECT_EQ(explore_ring(Stage(fill), write_without_a_second_try, read_and_tell).error,
            "thread 0 waits for ever");
}

TEST(PacketRing, FindsAskingThatIsNoExchange) {
  for (const bool torn : {false, true}) {
    const Findings findings =
        explore_ring(Stage(fill), write_when_there_is_room, read_and_tell, [=](Access& it) {
          if (it.kind != Kind::kModify || !of_room(it)) return;
          if (torn) {
            it.torn = true;
          } else if (it.thread == 0) {
            it.kind = Kind::kStore;
          }
        });
    EXPECT_EQ(findings.error, "thread 0 waits for ever") << torn;
  }
}

TEST(PacketRing, FindsAskingThatIsRelaxed) {
  const Findings findings =
      explore_ring(Stage(fill), write_when_there_is_room, read_and_tell, [](Access& access) {
        if (of_room(access)) access.order = std::memory_order_relaxed;
      });
  EXPECT_EQ(findings.error, "thread 0 waits for ever");
}

TEST(PacketRing, FindsRoomThatIsToldBeforeItIsThere) {
  const Findings findings =
      explore_ring(Stage(fill), write_when_there_is_room, read_and_tell, [](Access& access) {
        if (access.kind == Kind::kStore && access.offset == offsetof(Control, taken))
          access.order = std::memory_order_relaxed;
      });
  EXPECT_NE(findings.error.find("a race: "), std::string::npos) << findings.error;
}

// --- sleep --------------------------------------------------------------------------------------

/// As Mesh::transmit_by_ring.
void write_and_ring(Ring& ring) {
  for (int i = 0; i < 2; ++i) {
    (void)ring.write(8);
    if (ring.writer.reader_sleeps()) ring.reader_bell.ring();
  }
}
/// As Mesh::poll and arm.
void read_and_sleep(Ring& ring) {
  while (true) {
    while (ring.got < 2 && ring.read()) {
    }
    if (ring.got == 2) return;
    ring.reader.sleep();
    if (ring.reader.empty()) ring.reader_bell.wait();
  }
}
void read_and_sleep_at_once(Ring& ring) {
  while (true) {
    while (ring.got < 2 && ring.read()) {
    }
    if (ring.got == 2) return;
    ring.reader.sleep();
    ring.reader_bell.wait();
  }
}
/// As Mesh::set_awake(true), and then as before.
void wake_and_sleep(Ring& ring) {
  ring.reader.wake();
  (void)ring.read();
  read_and_sleep(ring);
}
void fall_asleep(Ring& ring) {
  ring.reader.sleep();
}

/// Where the socket is full the bell is not rung, as the reader will wake for what is there: but
/// nothing tells it then what the writer has done.
void write_and_ring_unless_full(Ring& ring) {
  (void)ring.write(8);
  if (!ring.writer.reader_sleeps()) return;
  bool full = false;
  kernel(
      &ring.reader_bell, "send", [&] { full = ring.reader_bell.rung(); }, Passes::kHears);
  if (!full) ring.reader_bell.ring();
}
void ring_already(Ring& ring) {
  ring.reader_bell.start_rung();
}
void wake_and_read(Ring& ring) {
  while (true) {
    ring.reader_bell.wait();
    if (ring.read()) return;
    ring.reader.sleep();
    if (!ring.reader.empty()) return;
  }
}

bool of_sleep(const Access& access) {
  return access.offset == offsetof(Control, reader_sleeps);
}

TEST(PacketRing, WhoeverSleepsIsWoken) {
  expect_right(explore_ring(Stage(nothing), write_and_ring, read_and_sleep));
  expect_right(explore_ring(Stage(fall_asleep), write_and_ring, read_and_sleep));
}

TEST(PacketRing, WhoeverSleepsIsWokenAfterHavingBeenAwake) {
  expect_right(explore_ring(Stage(nothing), write_and_ring, wake_and_sleep));
  expect_right(explore_ring(Stage(fall_asleep), write_and_ring, wake_and_sleep));
}

TEST(PacketRing, FindsThatOneMustLookAfterArming) {
  EXPECT_EQ(explore_ring(Stage(nothing), write_and_ring, read_and_sleep_at_once).error,
            "thread 1 waits for ever");
}

TEST(PacketRing, FindsSleepThatIsNoExchange) {
  for (const bool torn : {false, true}) {
    const Findings findings =
        explore_ring(Stage(nothing), write_and_ring, read_and_sleep, [=](Access& access) {
          if (access.kind != Kind::kModify || !of_sleep(access)) return;
          if (torn) {
            access.torn = true;
          } else if (access.thread == 1) {
            access.kind = Kind::kStore;
          }
        });
    EXPECT_EQ(findings.error, "thread 1 waits for ever") << torn;
  }
}

TEST(PacketRing, WhoeverSleepsIsWokenIfTheBellRangAlready) {
  expect_right(explore_ring(Stage(fall_asleep), write_and_ring_unless_full, wake_and_read, {},
                            ring_already));
}

// Somebody who sees that it has armed before need not see that a writer has disarmed it.
TEST(PacketRing, FindsArmingThatOnlyLooksWhetherItIsArmed) {
  const auto looks = [](Access& access) {
    if (!of_sleep(access) || access.thread != 1 || access.value != 1) return;
    access.kind = Kind::kLoad;
    access.order = std::memory_order_relaxed;
  };
  EXPECT_EQ(explore_ring(Stage(fall_asleep), write_and_ring_unless_full, wake_and_read, looks,
                         ring_already)
                .error,
            "thread 1 waits for ever");
}

TEST(PacketRing, FindsWakingThatIsNoExchange) {
  const Findings findings =
      explore_ring(Stage(nothing), write_and_ring, wake_and_sleep, [](Access& access) {
        if (of_sleep(access) && access.thread == 1 && access.value == 0) access.kind = Kind::kStore;
      });
  EXPECT_EQ(findings.error, "thread 1 waits for ever");
}

TEST(PacketRing, FindsSleepThatIsRelaxed) {
  const Findings findings =
      explore_ring(Stage(nothing), write_and_ring, read_and_sleep, [](Access& access) {
        if (of_sleep(access)) access.order = std::memory_order_relaxed;
      });
  EXPECT_EQ(findings.error, "thread 1 waits for ever");
}

}  // namespace
}  // namespace anyrdma::interleavings
