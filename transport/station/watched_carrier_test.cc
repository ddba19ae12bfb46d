// The decorator alone: a carrier below that keeps nothing, a watch that writes down what it hears.
#include "transport/station/watched_carrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace anyrdma::transport::station {
namespace {

using ::testing::ElementsAre;
using verbs::soft::Packet;
using verbs::soft::PacketPtr;

/// What happens, in its order.
using Log = std::vector<std::string>;

class Below final : public Carrier {
 public:
  explicit Below(Log& log) : log_(log) {}
  [[nodiscard]] int fd() const override { return -1; }
  void send(PacketPtr) override { log_.emplace_back("sent"); }
  [[nodiscard]] bool is_own(const Packet& packet) const override { return packet.size == 0; }
  void seal(Packet&) const override {}
  void transmit() override {}
  bool poll() override { return false; }
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const override {
    return std::nullopt;
  }
  [[nodiscard]] bool has_report() const override { return false; }
  bool report(verbs::Instant) override { return false; }
  void flush(std::chrono::milliseconds) override {}
  void close() override {}
  void abandon() override {}

 private:
  Log& log_;
};

class Watch final : public PacketWatch {
 public:
  explicit Watch(Log& log) : log_(log) {}
  void on_leaving(const Packet&, bool own) override {
    log_.emplace_back(own ? "leaves for itself" : "leaves");
  }
  void on_arriving(const Packet&) override { log_.emplace_back("arrives"); }
  void on_passed() override { log_.emplace_back("passed"); }

 private:
  Log& log_;
};

class WatchedCarrierTest : public ::testing::Test {
 protected:
  PacketPtr packet(std::uint16_t size) {
    PacketPtr packet = pool_.take();
    packet->size = size;
    return packet;
  }

  verbs::soft::PacketPool pool_;
  Log log_;
  Watch watch_{log_};
  WatchedCarrier carrier_{std::make_unique<Below>(log_),
                          [this](PacketPtr) { log_.emplace_back("delivered"); }, &watch_};
};

TEST_F(WatchedCarrierTest, TellsBeforeAndAfterWhatLeaves) {
  carrier_.send(packet(20));
  carrier_.send(packet(0));

  EXPECT_THAT(log_, ElementsAre("leaves", "sent", "passed", "leaves for itself", "sent", "passed"));
}

TEST_F(WatchedCarrierTest, TellsBeforeAndAfterWhatArrives) {
  carrier_.on_packet(packet(20));

  EXPECT_THAT(log_, ElementsAre("arrives", "delivered", "passed"));
}

TEST_F(WatchedCarrierTest, WithoutAWatchEverythingPasses) {
  carrier_.set_watch(nullptr);

  carrier_.send(packet(20));
  carrier_.on_packet(packet(20));

  EXPECT_THAT(log_, ElementsAre("sent", "delivered"));
}

}  // namespace
}  // namespace anyrdma::transport::station
