// The protocol by which a process writes into and reads from another's registered memory with the
// kernel's copy, and by which the owner withdraws a region without waiting for anybody: a model of
// it, in which the kernel's calls are locks and loops.
//
// The owner hands each peer a description of its own /proc/self/mem. A peer that writes sets its
// position, looks whether the region is (still) published, and writes where the position is. The
// owner withdraws the region's record, and then sets all positions to where nothing is. lseek and
// write of one description exclude each other (the kernel's f_pos_lock). So a peer's lseek comes
// before the owner's, and its write fails or was done by then; or behind it, and then it sees that
// the record is withdrawn. Reading has no position: what was read counts if the record's version
// is the same before and after.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>

#include "tests/interleavings/explorer.h"

namespace anyrdma::interleavings {
namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
constexpr std::uint64_t kFirst = 2;  // versions: odd ones are withdrawn
constexpr std::uint64_t kSecond = 4;

/// What every process maps. A record's version is stored last when it is published.
struct Record {
  std::atomic<std::uint64_t> version{kFirst};
  std::atomic<std::uint64_t> writable{1};
};
/// The owner's memory, two places of it; what it holds says under which record it got there.
struct Pages {
  std::array<std::atomic<std::uint64_t>, 2> place{};
};
constexpr std::uint64_t kRegistered = 5;  // what the owner's program left there to be read
constexpr std::uint64_t kPeers = 7;       // what a peer writes
constexpr std::uint64_t kReused = 9;      // what the program has there when it is its own again

/// An open file description that two processes have.
class Description {
 public:
  explicit Description(Pages& pages, bool locks = true) : pages_(pages), locks_(locks) {
    share(&position_, sizeof position_, "position");
  }
  void lseek(std::uint64_t to) {
    lock();
    position_.store(to, memory_order_relaxed);
    unlock();
  }
  bool write(std::uint64_t value) {
    lock();
    const std::uint64_t at = position_.load(memory_order_relaxed);
    if (at != kNowhere) pages_.place[at].store(value, memory_order_relaxed);
    unlock();
    return at != kNowhere;
  }
  /// Other than the two above it takes no lock.
  [[nodiscard]] std::uint64_t pread(std::uint64_t at) const {
    return pages_.place[at].load(memory_order_relaxed);
  }

 private:
  void lock() {
    if (!locks_) return;
    kernel_when(
        this, "f_pos_lock", [this] { return !locked_; }, [this] { locked_ = true; });
  }
  void unlock() {
    if (locks_) kernel(this, "f_pos_unlock", [this] { locked_ = false; });
  }

  Pages& pages_;
  bool locks_;
  bool locked_ = false;
  std::atomic<std::uint64_t> position_{kNowhere};
};

struct World {
  std::shared_ptr<Record> record = make_shared_area<Record>("record");
  std::shared_ptr<Pages> pages = make_shared_area<Pages>("pages");
  std::array<Description, 2> descriptions{Description(*pages), Description(*pages)};
  std::shared_ptr<Description> lockless = std::make_shared<Description>(*pages, false);
};

// --- the owner ----------------------------------------------------------------------------------

void withdraw(World& world, std::uint64_t version) {
  world.record->version.store(version + 1, memory_order_relaxed);
  // What the program does with its memory comes behind it, for those who read.
  std::atomic_thread_fence(memory_order_release);
  for (Description& each : world.descriptions) each.lseek(kNowhere);
}
void withdraw_in_the_wrong_order(World& world, std::uint64_t version) {
  for (Description& each : world.descriptions) each.lseek(kNowhere);
  world.record->version.store(version + 1, memory_order_relaxed);
  std::atomic_thread_fence(memory_order_release);
}
void publish(World& world, std::uint64_t version, bool writable) {
  world.record->writable.store(writable ? 1 : 0, memory_order_relaxed);
  world.record->version.store(version, memory_order_release);
}
void reuse(World& world) {
  world.pages->place[0].store(kReused, memory_order_relaxed);
}

// --- a peer -------------------------------------------------------------------------------------

bool allowed(const World& world, std::uint64_t version) {
  return world.record->version.load(memory_order_acquire) == version &&
         world.record->writable.load(memory_order_relaxed) != 0;
}
void write(World& world, std::size_t peer, std::uint64_t version) {
  world.descriptions[peer].lseek(0);
  if (!allowed(world, version)) return;
  (void)world.descriptions[peer].write(kPeers);
}
void write_after_a_look(World& world, std::size_t peer, std::uint64_t version) {
  if (!allowed(world, version)) return;
  world.descriptions[peer].lseek(0);
  (void)world.descriptions[peer].write(kPeers);
}
/// kNowhere: nothing.
std::uint64_t read(World& world, bool fenced) {
  const std::uint64_t before = world.record->version.load(memory_order_acquire);
  if (before % 2 != 0) return kNowhere;
  const std::uint64_t value = world.descriptions[0].pread(0);
  if (fenced) std::atomic_thread_fence(memory_order_acquire);
  const std::uint64_t behind = world.record->version.load(memory_order_relaxed);
  return before == behind ? value : kNowhere;
}

// --- runs ---------------------------------------------------------------------------------------

using Part = std::function<void(World&)>;
Findings explore_world(const std::vector<Part>& parts, const Part& at_end) {
  const Findings findings = explore([&] {
    auto world = std::make_shared<World>();
    world->pages->place[0] = kRegistered;
    Scenario scenario;
    for (const Part& part : parts) scenario.threads.emplace_back([=, &part] { part(*world); });
    scenario.at_end = [=, &at_end] { at_end(*world); };
    return scenario;
  });
  std::cout << findings.runs << " runs, " << findings.steps << " steps\n";
  return findings;
}
void expect_right(const Findings& findings) {
  EXPECT_EQ(findings.error, "") << findings.story;
  EXPECT_TRUE(findings.complete);
  EXPECT_GT(findings.runs, 5u) << "nothing was watched";
}

void is_the_programs(World& world) {
  require(world.pages->place[0] == kReused, "a peer wrote into withdrawn memory");
}
void withdraw_and_reuse(World& world) {
  withdraw(world, kFirst);
  reuse(world);
}
void first_peer_writes(World& world) {
  write(world, 0, kFirst);
}
void second_peer_writes(World& world) {
  write(world, 1, kFirst);
}

TEST(NearCopy, NobodyWritesUnderAWithdrawnRecord) {
  expect_right(explore_world({withdraw_and_reuse, first_peer_writes}, is_the_programs));
}

TEST(NearCopy, NoneOfTwoPeersWritesUnderAWithdrawnRecord) {
  expect_right(
      explore_world({withdraw_and_reuse, first_peer_writes, second_peer_writes}, is_the_programs));
}

TEST(NearCopy, APeerThatGoesOnWritesNothingEither) {
  const Part twice = [](World& world) {
    write(world, 0, kFirst);
    write(world, 0, kFirst);
  };
  expect_right(explore_world({withdraw_and_reuse, twice}, is_the_programs));
}

// A long message is several calls of write: the position moves on with each, and nobody looks
// again.
TEST(NearCopy, ALongMessageStopsWithItsRecord) {
  const Part long_message = [](World& world) {
    world.descriptions[0].lseek(0);
    if (!allowed(world, kFirst)) return;
    if (world.descriptions[0].write(kPeers)) (void)world.descriptions[0].write(kPeers);
  };
  expect_right(explore_world({withdraw_and_reuse, long_message}, is_the_programs));
}

// The owner is through although the peer does nothing more: SIGSTOP never stops anybody who holds
// the kernel's lock, because a process stops on its way back from the kernel.
TEST(NearCopy, NobodyWaitsForAPeerThatIsStopped) {
  for (const bool looked : {false, true}) {
    const Part stops = [=](World& world) {
      world.descriptions[0].lseek(0);
      if (looked) (void)allowed(world, kFirst);
    };
    EXPECT_EQ(explore_world({withdraw_and_reuse, stops}, is_the_programs).error, "");
  }
}

TEST(NearCopy, AnotherRecordInItsPlaceAllowsNothingToOldKnowledge) {
  const Part replace = [](World& world) {
    withdraw(world, kFirst);
    reuse(world);
    publish(world, kSecond, true);
  };
  expect_right(explore_world({replace, first_peer_writes}, is_the_programs));
}

// The look takes in version and rights one after the other, and a new record may come in between.
TEST(NearCopy, RightsOfAnotherRecordAreNoRights) {
  const Part replace = [](World& world) {
    withdraw(world, kFirst);
    reuse(world);
    publish(world, kSecond, false);
  };
  const Part both = [](World& world) {
    write(world, 0, kFirst);
    write(world, 0, kSecond);
  };
  expect_right(explore_world({replace, both}, is_the_programs));
}

// The kernel takes the lock only where a description has more than one reference. The owner keeps
// its own, so there are always two.
TEST(NearCopy, FindsThatTheLockIsNeeded) {
  const Part owner = [](World& world) {
    world.record->version.store(kFirst + 1, memory_order_relaxed);
    world.lockless->lseek(kNowhere);
    reuse(world);
  };
  const Part peer = [](World& world) {
    world.lockless->lseek(0);
    if (allowed(world, kFirst)) (void)world.lockless->write(kPeers);
  };
  EXPECT_EQ(explore_world({owner, peer}, is_the_programs).error,
            "a peer wrote into withdrawn memory");
}

TEST(NearCopy, FindsALookBeforeThePosition) {
  const Part peer = [](World& world) { write_after_a_look(world, 0, kFirst); };
  EXPECT_EQ(explore_world({withdraw_and_reuse, peer}, is_the_programs).error,
            "a peer wrote into withdrawn memory");
}

TEST(NearCopy, FindsPositionsThatAreSetBeforeTheRecordIsWithdrawn) {
  const Part owner = [](World& world) {
    withdraw_in_the_wrong_order(world, kFirst);
    reuse(world);
  };
  EXPECT_EQ(explore_world({owner, first_peer_writes}, is_the_programs).error,
            "a peer wrote into withdrawn memory");
}

TEST(NearCopy, FindsAForgottenDescription) {
  const Part owner = [](World& world) {
    world.record->version.store(kFirst + 1, memory_order_relaxed);
    std::atomic_thread_fence(memory_order_release);
    world.descriptions[0].lseek(kNowhere);
    reuse(world);
  };
  EXPECT_EQ(explore_world({owner, second_peer_writes}, is_the_programs).error,
            "a peer wrote into withdrawn memory");
}

// --- reading ------------------------------------------------------------------------------------

Findings explore_reading(bool owner_fences, bool peer_fences) {
  auto got = std::make_shared<std::uint64_t>();
  return explore_world({[=](World& world) {
                          world.record->version.store(kFirst + 1, memory_order_relaxed);
                          if (owner_fences) std::atomic_thread_fence(memory_order_release);
                          for (Description& each : world.descriptions) each.lseek(kNowhere);
                          reuse(world);
                        },
                        [=](World& world) { *got = read(world, peer_fences); }},
                       [=](World&) {
                         require(*got == kRegistered || *got == kNowhere,
                                 "a peer took what is not registered");
                       });
}

TEST(NearCopy, WhatIsReadWasRegistered) {
  expect_right(explore_reading(true, true));
}

// Neither lseek is a fence for what the program stores behind it, nor pread for what the peer looks
// at next.
TEST(NearCopy, FindsReadingWithoutEitherFence) {
  EXPECT_EQ(explore_reading(false, true).error, "a peer took what is not registered");
  EXPECT_EQ(explore_reading(true, false).error, "a peer took what is not registered");
}

}  // namespace
}  // namespace anyrdma::interleavings
