// The litmus tests of RDMA's memory between fibers: under each profile, what is seen in many runs
// is what is allowed, and under the weak ones all of that.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/host.h"
#include "sim/world.h"
#include "tests/litmus/litmus.h"

namespace anyrdma::sim {
namespace {

using verbs::soft::Hca;
using Outcomes = std::set<std::string>;

constexpr std::uint64_t kSeeds = 500;

/// One node's device and memory, and its queue pairs to the nodes that it or they name.
class Node {
 public:
  Node(World& world, int number, bool relaxed)
      : host_(
            world.add_host("n" + std::to_string(number), {"10.0.0." + std::to_string(number + 1)})),
        chance_(world.random("pauses of " + std::to_string(number))) {
    context_ = hca().open_device(hca().device()).value();
    pd_ = hca().alloc_pd(context_).value();
    unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                      IBV_ACCESS_REMOTE_ATOMIC;
    if (relaxed) access |= IBV_ACCESS_RELAXED_ORDERING;
    mr_ = hca()
              .reg_mr(pd_, bytes_, sizeof bytes_, reinterpret_cast<std::uintptr_t>(bytes_), access)
              .value();
    self.words = reinterpret_cast<std::uint64_t*>(bytes_);
    self.lkey = mr_->lkey;
    self.context = this;
    self.pause = [](void* node) { static_cast<Node*>(node)->pause(); };
  }
  ~Node() { (void)hca().close_device(context_); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  static void connect(Node& a, int at_a, Node& b, int at_b, int which) {
    ibv_qp* const one = a.make_qp();
    ibv_qp* const other = b.make_qp();
    a.connect(*one, *other, b);
    b.connect(*other, *one, a);
    a.self.qp[at_b][which] = one;
    b.self.qp[at_a][which] = other;
    a.point(at_b, b);
    b.point(at_a, a);
  }
  [[nodiscard]] Host& host() { return host_; }

  litmus_node self{};

 private:
  [[nodiscard]] Hca& hca() { return host_.hca(); }
  void point(int peer, const Node& to) {
    self.there[peer] = reinterpret_cast<std::uintptr_t>(to.bytes_);
    self.rkey[peer] = to.mr_->rkey;
  }
  ibv_qp* make_qp() {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = hca().create_cq(context_, 16, nullptr, nullptr, 0).value();
    init.qp_type = IBV_QPT_RC;
    init.cap = {16, 16, 1, 1, 0};
    return hca().create_qp(pd_, &init).value();
  }
  void connect(ibv_qp& qp, const ibv_qp& peer, Node& to) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qp_access_flags =
        IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = peer.qp_num;
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
    attr.min_rnr_timer = 12;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.dgid = to.hca().gids().front();
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    constexpr int kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    constexpr int kReceive = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    constexpr int kSend = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC;
    const auto enter = [&](ibv_qp_state state, int mask) {
      attr.qp_state = state;
      hca().modify_qp(&qp, &attr, mask | IBV_QP_STATE).value();
    };
    enter(IBV_QPS_INIT, kInit);
    enter(IBV_QPS_RTR, kReceive);
    enter(IBV_QPS_RTS, kSend);
  }
  /// Not at all, or for less or more than what a round trip takes.
  void pause() {
    constexpr std::uint64_t kLongest[] = {0, 1'000, 8'000, 30'000};
    const std::uint64_t longest = kLongest[chance_.below(std::size(kLongest))];
    const auto time = static_cast<std::int64_t>(chance_.below(longest + 1));
    (void)Host::current()->sleep(std::chrono::nanoseconds(time + 1));
  }

  alignas(LITMUS_LINE) std::uint8_t bytes_[LITMUS_BYTES] = {};
  Host& host_;
  RandomStream& chance_;
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;
};

bool names(const litmus_test& test, int node, int target, char queue) {
  const std::string_view program = test.nodes[node] == nullptr ? "" : test.nodes[node];
  return program.find(" " + std::to_string(target) + " " + queue) != std::string_view::npos;
}

std::string run(const litmus_test& test, std::uint64_t seed, MemoryProfile profile) {
  WorldOptions options;
  options.tracing = Tracing::kOff;
  options.memory.profile = profile;
  World world(seed, options);
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < LITMUS_NODES; ++i) {
    nodes.push_back(std::make_unique<Node>(world, i, test.weaker != nullptr));
    litmus_initialise(&nodes.back()->self, i, test.initial);
  }
  for (int a = 0; a < LITMUS_NODES; ++a) {
    for (int b = a + 1; b < LITMUS_NODES; ++b) {
      for (int which = 0; which < LITMUS_QPS; ++which) {
        const char queue = which == 0 ? 'q' : 'p';
        if (!names(test, a, b, queue) && !names(test, b, a, queue)) continue;
        Node::connect(*nodes[static_cast<std::size_t>(a)], a, *nodes[static_cast<std::size_t>(b)],
                      b, which);
      }
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (test.nodes[i] == nullptr) continue;
    nodes[i]->host().spawn("program", [&node = *nodes[i], program = test.nodes[i]] {
      litmus_run(&node.self, program);
    });
  }
  EXPECT_TRUE(world.run()) << world.stuck_report();
  std::string outcome;
  std::istringstream observed(test.observed);
  std::string word;
  for (int index = 0; observed >> word; ++index) {
    char text[32];
    for (int i = 0; i < LITMUS_NODES; ++i) {
      litmus_node& node = nodes[static_cast<std::size_t>(i)]->self;
      EXPECT_FALSE(node.failed);
      if (litmus_observe(&node, i, test.observed, index, text, sizeof text) != 0)
        outcome += (outcome.empty() ? "" : ",") + std::string(text);
    }
  }
  return outcome;
}

Outcomes outcomes(const litmus_test& test, MemoryProfile profile, std::uint64_t seeds) {
  Outcomes seen;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) seen.insert(run(test, seed, profile));
  return seen;
}

Outcomes listed(const char* text) {
  Outcomes all;
  std::istringstream words(text);
  for (std::string word; words >> word;) all.insert(word);
  return all;
}

class Litmus : public ::testing::TestWithParam<litmus_test> {};

TEST_P(Litmus, UnderSpecExactlyWhatIsAllowedIsSeen) {
  EXPECT_EQ(outcomes(GetParam(), MemoryProfile::kSpec, kSeeds), listed(GetParam().spec));
}

TEST_P(Litmus, UnderStrictOnlyWhatADeviceInOrderDoesIsSeen) {
  const Outcomes allowed = listed(GetParam().strict);
  for (const std::string& seen : outcomes(GetParam(), MemoryProfile::kStrict, kSeeds / 5))
    EXPECT_TRUE(allowed.contains(seen)) << seen;
}

INSTANTIATE_TEST_SUITE_P(All, Litmus, ::testing::ValuesIn(litmus_tests),
                         [](const auto& test) { return std::string(test.param.name); });

const litmus_test& named(std::string_view name) {
  for (const litmus_test& test : litmus_tests)
    if (test.name == name) return test;
  ADD_FAILURE() << name;
  return litmus_tests[0];
}

TEST(WeakerMemory, OfRelaxedRegionsTheFlagMayComeBeforeTheData) {
  const litmus_test& test = named("L5");
  EXPECT_EQ(outcomes(test, MemoryProfile::kRelaxed, kSeeds), listed(test.weaker));
}

TEST(WeakerMemory, OfRegionsThatAreNotRelaxedItMayNot) {
  const litmus_test& test = named("L4");
  EXPECT_EQ(outcomes(test, MemoryProfile::kRelaxed, kSeeds), listed(test.spec));
}

TEST(WeakerMemory, WhereItIsUnorderedAReadMayPassAWrite) {
  const litmus_test& test = named("L13");
  EXPECT_EQ(outcomes(test, MemoryProfile::kUnordered, kSeeds), listed(test.weaker));
}

}  // namespace
}  // namespace anyrdma::sim
