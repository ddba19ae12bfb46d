// Whether the explorer finds all that the C++ memory model allows, and nothing else: the small
// programs of the literature, with the outcomes that are there in each.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "tests/interleavings/explorer.h"

namespace anyrdma::interleavings {
namespace {

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

struct Variables {
  alignas(64) std::atomic<int> x{0};
  alignas(64) std::atomic<int> y{0};
  alignas(64) int plain = 0;
};

using Outcomes = std::set<std::string>;
using Body = std::function<void(Variables&, std::string& seen)>;

/// What the threads see, over all runs.
Outcomes outcomes_of(const std::vector<Body>& bodies, bool every_order,
                     Findings* findings = nullptr) {
  Outcomes outcomes;
  const auto prepare = [&] {
    auto shared = make_shared_area<Variables>("v");
    auto seen = std::make_shared<std::array<std::string, 4>>();
    Scenario scenario;
    for (std::size_t i = 0; i < bodies.size(); ++i)
      scenario.threads.emplace_back([=, &bodies] { bodies[i](*shared, (*seen)[i]); });
    scenario.at_end = [=, &outcomes] {
      std::string all;
      for (const std::string& each : *seen) all += each;
      outcomes.insert(all);
    };
    return scenario;
  };
  const Findings found = explore(prepare, {.every_order = every_order});
  if (findings != nullptr) {
    *findings = found;
  } else {
    EXPECT_EQ(found.error, "") << found.story;
    EXPECT_TRUE(found.complete);
  }
  return outcomes;
}

/// The same, and whether leaving out orders that nobody can tell apart leaves out anything.
Outcomes outcomes_of(const std::vector<Body>& bodies) {
  Outcomes outcomes = outcomes_of(bodies, false);
  EXPECT_EQ(outcomes, outcomes_of(bodies, true));
  return outcomes;
}
Findings findings_of(const std::vector<Body>& bodies) {
  Findings findings;
  outcomes_of(bodies, false, &findings);
  return findings;
}

void see(std::string& seen, int value) {
  seen += std::to_string(value);
}

Outcomes store_buffering(std::memory_order store, std::memory_order load,
                         std::memory_order fence = memory_order_relaxed) {
  return outcomes_of({[=](Variables& v, std::string& seen) {
                        v.x.store(1, store);
                        std::atomic_thread_fence(fence);
                        see(seen, v.y.load(load));
                      },
                      [=](Variables& v, std::string& seen) {
                        v.y.store(1, store);
                        std::atomic_thread_fence(fence);
                        see(seen, v.x.load(load));
                      }});
}

TEST(Litmus, StoresAreBufferedUnlessSequential) {
  const Outcomes all{"00", "01", "10", "11"};
  const Outcomes ordered{"01", "10", "11"};
  EXPECT_EQ(store_buffering(memory_order_relaxed, memory_order_relaxed), all);
  EXPECT_EQ(store_buffering(memory_order_release, memory_order_acquire), all);
  EXPECT_EQ(store_buffering(memory_order_seq_cst, memory_order_seq_cst), ordered);
  EXPECT_EQ(store_buffering(memory_order_relaxed, memory_order_relaxed, memory_order_seq_cst),
            ordered);
  EXPECT_EQ(store_buffering(memory_order_relaxed, memory_order_relaxed, memory_order_acq_rel), all);
}

// Review item 12: a read-modify-write is no fence for other words.
TEST(Litmus, AnAddOrdersNothingBehindIt) {
  const auto dekker = [](std::memory_order fence) {
    return outcomes_of({[=](Variables& v, std::string& seen) {
                          v.x.fetch_add(1, memory_order_acq_rel);
                          std::atomic_thread_fence(fence);
                          see(seen, v.y.load(memory_order_relaxed));
                        },
                        [=](Variables& v, std::string& seen) {
                          v.y.fetch_add(1, memory_order_acq_rel);
                          std::atomic_thread_fence(fence);
                          see(seen, v.x.load(memory_order_relaxed));
                        }});
  };
  EXPECT_TRUE(dekker(memory_order_acq_rel).contains("00"));
  EXPECT_FALSE(dekker(memory_order_seq_cst).contains("00"));
}

Outcomes message_passing(std::memory_order store, std::memory_order load) {
  return outcomes_of({[=](Variables& v, std::string&) {
                        v.x.store(1, memory_order_relaxed);
                        v.y.store(1, store);
                      },
                      [=](Variables& v, std::string& seen) {
                        see(seen, v.y.load(load));
                        see(seen, v.x.load(memory_order_relaxed));
                      }});
}

TEST(Litmus, AMessageArrivesWithWhatItIsAboutIfReleasedAndAcquired) {
  EXPECT_EQ(message_passing(memory_order_release, memory_order_acquire),
            (Outcomes{"00", "01", "11"}));
  const Outcomes all{"00", "01", "10", "11"};
  EXPECT_EQ(message_passing(memory_order_relaxed, memory_order_acquire), all);
  EXPECT_EQ(message_passing(memory_order_release, memory_order_relaxed), all);
}

TEST(Litmus, FencesDoWhatOrdersDo) {
  const auto passing = [](std::memory_order before, std::memory_order behind) {
    return outcomes_of({[=](Variables& v, std::string&) {
                          v.x.store(1, memory_order_relaxed);
                          std::atomic_thread_fence(before);
                          v.y.store(1, memory_order_relaxed);
                        },
                        [=](Variables& v, std::string& seen) {
                          see(seen, v.y.load(memory_order_relaxed));
                          std::atomic_thread_fence(behind);
                          see(seen, v.x.load(memory_order_relaxed));
                        }});
  };
  EXPECT_FALSE(passing(memory_order_release, memory_order_acquire).contains("10"));
  EXPECT_TRUE(passing(memory_order_release, memory_order_relaxed).contains("10"));
  EXPECT_TRUE(passing(memory_order_relaxed, memory_order_acquire).contains("10"));
}

TEST(Litmus, OneVariableNeverGoesBack) {
  const Outcomes seen = outcomes_of({[](Variables& v, std::string&) {
                                       v.x.store(1, memory_order_relaxed);
                                       v.x.store(2, memory_order_relaxed);
                                     },
                                     [](Variables& v, std::string& all) {
                                       see(all, v.x.load(memory_order_relaxed));
                                       see(all, v.x.load(memory_order_relaxed));
                                     }});
  EXPECT_EQ(seen, (Outcomes{"00", "01", "02", "11", "12", "22"}));
}

TEST(Litmus, WritersMayDisagreeAboutTwoVariables) {
  const auto two_plus_two = [](std::memory_order order) {
    return outcomes_of({[=](Variables& v, std::string&) {
                          v.x.store(1, order);
                          v.y.store(2, order);
                        },
                        [=](Variables& v, std::string&) {
                          v.y.store(1, order);
                          v.x.store(2, order);
                        },
                        [](Variables& v, std::string& seen) {
                          see(seen, v.x.load(memory_order_relaxed));
                          see(seen, v.x.load(memory_order_relaxed));
                          see(seen, v.y.load(memory_order_relaxed));
                          see(seen, v.y.load(memory_order_relaxed));
                        }},
                       false);
  };
  EXPECT_TRUE(two_plus_two(memory_order_relaxed).contains("2121"));
  EXPECT_FALSE(two_plus_two(memory_order_seq_cst).contains("2121"));
}

TEST(Litmus, ReadersMayDisagreeAboutTwoWritersUnlessSequential) {
  const auto readers = [](std::memory_order store, std::memory_order load) {
    return outcomes_of({[=](Variables& v, std::string&) { v.x.store(1, store); },
                        [=](Variables& v, std::string&) { v.y.store(1, store); },
                        [=](Variables& v, std::string& seen) {
                          see(seen, v.x.load(load));
                          see(seen, v.y.load(load));
                        },
                        [=](Variables& v, std::string& seen) {
                          see(seen, v.y.load(load));
                          see(seen, v.x.load(load));
                        }});
  };
  EXPECT_TRUE(readers(memory_order_release, memory_order_acquire).contains("1010"));
  EXPECT_FALSE(readers(memory_order_seq_cst, memory_order_seq_cst).contains("1010"));
}

TEST(Litmus, ReadModifyWritesLoseNothing) {
  const auto add = [](Variables& v, std::string& seen) {
    see(seen, v.x.fetch_add(1, memory_order_relaxed));
  };
  EXPECT_EQ(outcomes_of({add, add}), (Outcomes{"01", "10"}));
  const auto careless = [](Variables& v, std::string& seen) {
    const int before = v.x.load(memory_order_relaxed);
    v.x.store(before + 1, memory_order_relaxed);
    see(seen, before);
  };
  EXPECT_EQ(outcomes_of({careless, careless}), (Outcomes{"00", "01", "10"}));
}

TEST(Litmus, AReleaseLivesOnInReadModifyWrites) {
  const auto through = [](bool modify) {
    return outcomes_of({[](Variables& v, std::string&) {
                          v.x.store(1, memory_order_relaxed);
                          v.y.store(1, memory_order_release);
                        },
                        [=](Variables& v, std::string&) {
                          if (modify) {
                            v.y.fetch_add(1, memory_order_relaxed);
                          } else if (v.y.load(memory_order_relaxed) == 1) {
                            v.y.store(2, memory_order_relaxed);
                          }
                        },
                        [](Variables& v, std::string& seen) {
                          see(seen, v.y.load(memory_order_acquire));
                          see(seen, v.x.load(memory_order_relaxed));
                        }});
  };
  EXPECT_FALSE(through(true).contains("20"));
  EXPECT_TRUE(through(false).contains("20"));
}

Findings handed_over(std::memory_order order) {
  return findings_of({[=](Variables& v, std::string&) {
                        v.plain = 1;
                        v.x.store(1, order);
                      },
                      [](Variables& v, std::string& seen) {
                        if (v.x.load(memory_order_acquire) == 1) see(seen, v.plain);
                      }});
}

TEST(Litmus, UnorderedPlainAccessesAreARace) {
  EXPECT_EQ(handed_over(memory_order_release).error, "");
  EXPECT_NE(handed_over(memory_order_relaxed).error.find("a race"), std::string::npos);
}

TEST(Litmus, ASequentialFenceAloneHandsNothingOver) {
  const Findings findings = findings_of({[](Variables& v, std::string&) {
                                           v.plain = 1;
                                           std::atomic_thread_fence(memory_order_seq_cst);
                                         },
                                         [](Variables& v, std::string&) {
                                           std::atomic_thread_fence(memory_order_seq_cst);
                                           v.plain = 2;
                                         }});
  EXPECT_NE(findings.error.find("a race"), std::string::npos);
}

TEST(Litmus, WhoeverSleepsForEverIsFound) {
  const auto lost = [](bool looks_again) {
    return explore([=] {
      auto shared = make_shared_area<Variables>("v");
      auto bell = std::make_shared<Bell>();
      return Scenario{{[=] {
                         shared->x.store(1, memory_order_release);
                         if (shared->y.exchange(0, memory_order_acq_rel) == 1) bell->ring();
                       },
                       [=] {
                         if (shared->x.load(memory_order_acquire) == 1) return;
                         shared->y.exchange(1, memory_order_acq_rel);
                         if (looks_again && shared->x.load(memory_order_acquire) == 1) return;
                         bell->wait();
                       }},
                      {}};
    });
  };
  EXPECT_EQ(lost(true).error, "") << lost(true).story;
  EXPECT_EQ(lost(false).error, "thread 1 waits for ever");
}

// 3 x 3 independent operations: one order is enough.
TEST(Litmus, OrdersThatNobodyCanTellApartAreTriedOnce) {
  const Findings findings = findings_of({[](Variables& v, std::string&) {
                                           for (int i = 0; i < 3; ++i)
                                             v.x.store(i, memory_order_relaxed);
                                         },
                                         [](Variables& v, std::string&) {
                                           for (int i = 0; i < 3; ++i)
                                             v.y.store(i, memory_order_relaxed);
                                         }});
  EXPECT_TRUE(findings.complete);
  EXPECT_EQ(findings.runs, 1u);
}

}  // namespace
}  // namespace anyrdma::interleavings
