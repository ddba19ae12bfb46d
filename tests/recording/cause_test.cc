// What a recording says of why somebody waits for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "recording/view/story.h"
#include "recording/writer.h"
#include "sim/testing/audit.h"
#include "tests/recording/mistakes.h"

namespace anyrdma::tests {
namespace {

using recording::EntryKind;
using recording::MemorySink;
using recording::Moment;
using recording::Number;
using recording::Record;
using recording::RecordKind;
using recording::Story;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::size_t kPlenty = std::size_t{1} << 22;

/// The story of a world in which a mistake of some kind makes somebody hang.
Story story_of(void (Mistakes::*mistake)()) {
  const sim::testing::Unaudited unaudited;
  const auto sink = std::make_shared<MemorySink>(kPlenty);
  {
    sim::World world(1, {.recording = sink});
    Mistakes mistakes(world);
    (mistakes.*mistake)();
    EXPECT_FALSE(world.run());
  }
  return recording::tell(sink->bytes()).story.value();
}

/// The record that the first moment names as its cause.
const Record& cause_in(const Story& story) {
  return story.records.at(story.moments.at(0).cause.value());
}

TEST(Cause, IsTheEventThatNobodyAcknowledged) {
  const Story story = story_of(&Mistakes::forgets_to_acknowledge);

  EXPECT_EQ(story.verdict, "hang");
  EXPECT_THAT(story.moments.at(0).why,
              AllOf(HasSubstr("server/serve waits for the acknowledgement of the events of an id "
                              "that it destroys since"),
                    HasSubstr("no event is pending: RDMA_CM_EVENT_DISCONNECTED of "
                              "server#2, fetched at"),
                    EndsWith("was never acknowledged")));
  EXPECT_EQ(cause_in(story).name, "RDMA_CM_EVENT_DISCONNECTED");
  EXPECT_FALSE(cause_in(story).acknowledged);
}

TEST(Cause, IsTheMessageThatNeverCame) {
  const Story story = story_of(&Mistakes::never_hears_of_the_end);

  EXPECT_THAT(story.moments.at(0).why,
              AllOf(HasSubstr("server/serve waits for an event on an event channel"),
                    HasSubstr(": client's DREQ to server was lost at"),
                    HasSubstr("(lost by a fault), and each of its ")));
  EXPECT_EQ(cause_in(story).kind, RecordKind::kMessage);
  EXPECT_FALSE(cause_in(story).arrives);
}

TEST(Cause, IsTheEventThatNobodyFetched) {
  const Story story = story_of(&Mistakes::waits_at_the_wrong_channel);

  EXPECT_THAT(story.moments.at(0).why,
              AllOf(HasSubstr(": RDMA_CM_EVENT_"), HasSubstr(" of server#2, queued"),
                    EndsWith("was never fetched")));
  EXPECT_FALSE(cause_in(story).fetched);
}

/// A recording by hand: a process of a host whose thread waits for ever in a system call.
class ByHand : public ::testing::Test {
 protected:
  ByHand() {
    host_ = writer_->lane({}, "host", "here");
    process_ = writer_->lane({}, "process", "here/rping[3]", host_);
    thread_ = writer_->lane({}, "thread", "here/rping", host_);
  }

  void queue(std::uint64_t id, rdma_cm_event_type event) {
    const auto type = static_cast<std::uint64_t>(event);
    writer_->write<EntryKind::kQueued>(now(), process_, id, 0u, type, 0, 0u, "");
  }
  void fetch(std::uint64_t id, rdma_cm_event_type event) {
    writer_->write<EntryKind::kFetched>(now(), process_, id, static_cast<std::uint64_t>(event), "");
  }
  void acknowledge(std::uint64_t id) {
    writer_->write<EntryKind::kAcknowledged>(now(), process_, id);
  }
  void destroy(std::uint64_t id) {
    writer_->write<EntryKind::kCalled>(now(), process_, id, "destroy", 0u, 0u);
  }

  /// The moment of the thread, which waits for that.
  Moment moment(std::string_view purpose) {
    writer_->write<EntryKind::kWaited>(now(), thread_, 0u, purpose, 0u, "");
    writer_->write<EntryKind::kMoment>(now(), "it waits", thread_ + 1);
    writer_->end(now(), "hang", 0);
    return recording::tell(sink_->bytes()).story.value().moments.at(0);
  }

 private:
  verbs::Instant now() { return time_ += std::chrono::seconds(1); }

  std::shared_ptr<MemorySink> sink_ = std::make_shared<MemorySink>(kPlenty);
  std::optional<recording::Writer> writer_{std::in_place, sink_};
  verbs::Instant time_{};
  Number host_ = 0;
  Number process_ = 0;
  Number thread_ = 0;
};

TEST_F(ByHand, AFutexIsTheDestructionThatWaitsForAnAcknowledgement) {
  queue(1, RDMA_CM_EVENT_ADDR_RESOLVED);
  fetch(1, RDMA_CM_EVENT_ADDR_RESOLVED);
  acknowledge(1);
  queue(1, RDMA_CM_EVENT_REJECTED);
  fetch(1, RDMA_CM_EVENT_REJECTED);
  destroy(1);

  EXPECT_EQ(moment("a futex").why,
            "it waits: RDMA_CM_EVENT_REJECTED of here/rping[3]#1, fetched at 5.000000000 s, was "
            "never acknowledged, and rdma_destroy_id waits for that");
}

TEST_F(ByHand, AnEventIsNotToBlameWhileNobodyDestroysItsId) {
  queue(2, RDMA_CM_EVENT_ADDR_RESOLVED);
  fetch(2, RDMA_CM_EVENT_ADDR_RESOLVED);
  acknowledge(2);
  queue(1, RDMA_CM_EVENT_REJECTED);
  fetch(1, RDMA_CM_EVENT_REJECTED);

  EXPECT_EQ(moment("a futex").why,
            "it waits: the last that came was RDMA_CM_EVENT_REJECTED of here/rping[3]#1 at "
            "4.000000000 s");
}

TEST_F(ByHand, WhereAcknowledgementsAreNotToldNobodyIsBlamed) {
  queue(1, RDMA_CM_EVENT_ESTABLISHED);
  fetch(1, RDMA_CM_EVENT_ESTABLISHED);
  destroy(1);

  EXPECT_EQ(moment("a futex").why,
            "it waits: the last that came was RDMA_CM_EVENT_ESTABLISHED of here/rping[3]#1 at "
            "1.000000000 s");
}

TEST_F(ByHand, WhatIsNotKnownIsNotSaid) {
  const Moment found = moment("a futex");

  EXPECT_EQ(found.why, "it waits");
  EXPECT_FALSE(found.cause);
}

}  // namespace
}  // namespace anyrdma::tests
