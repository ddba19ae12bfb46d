#include "transport/fault/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace anyrdma::fault {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Abilities kSoft{.name = "fabric", .devices = 1, .ours = true};
constexpr Abilities kRails{.name = "fabric", .devices = 2, .ours = true};
constexpr Abilities kKernel{.name = "ucma"};

FaultPlan parsed(const std::string& text) {
  return FaultPlan::parse(text).value();
}

TEST(PartOfAPlan, IsWhatIsForThisHost) {
  const FaultPlan plan = parsed(
      "on server request 1: reject 28\n"
      "on client call connect 1: remove client anyrdma0\n"
      "at 1s: port-down server anyrdma0\n"
      "on * fetched ESTABLISHED 1: fail-over client eth0\n"
      "on * request 2: overflow\n");

  EXPECT_EQ(part_of(plan, "server", kSoft)->to_string(),
            "on server request 1: reject 28\n"
            "at 1s: port-down server anyrdma0\n"
            "on * request 2: overflow\n");
  EXPECT_EQ(part_of(plan, "client", kSoft)->to_string(),
            "on client call connect 1: remove client anyrdma0\n"
            "on * fetched ESTABLISHED 1: fail-over client eth0\n"
            "on * request 2: overflow\n");
}

TEST(PartOfAPlan, NamesEachDeviceOfATransport) {
  const std::string text = "at 1s: remove h anyrdma1\nat 2s: port-down h anyrdma0\n";

  EXPECT_EQ(part_of(parsed(text), "h", kRails)->to_string(), text);
}

TEST(PartOfAPlan, OnlyHostIsTheOneThatIsNamed) {
  EXPECT_EQ(only_host(parsed("on b request 1: overflow\nat 0s: remove b d")).value(), "b");
  EXPECT_EQ(only_host(parsed("on * request 1: overflow")).value(), "here");
  EXPECT_EQ(only_host(parsed("on b request 1: overflow\nat 0s: remove a d")).error().reason,
            "the plan names several hosts (a, b): say which one the program is");
}

struct Refused {
  std::string fault;
  Abilities abilities;
  std::string reason;
};
std::ostream& operator<<(std::ostream& out, const Refused& refused) {
  return out << refused.fault;
}

class PartOfAPlanRefused : public ::testing::TestWithParam<Refused> {};

TEST_P(PartOfAPlanRefused, WithItsNumberAndASentence) {
  const FaultPlan plan = parsed("on h queued REJECTED 1: hold 1s\n" + GetParam().fault);

  const auto part = part_of(plan, "h", GetParam().abilities);

  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().line, 2u);
  EXPECT_EQ(part.error().reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    Each, PartOfAPlanRefused,
    ::testing::Values(
        Refused{"on h->* REQ 1: lose", kKernel,
                "over ucma packets cannot be observed; use request, queued, fetched or call"},
        Refused{"on h->* packet 5%: fail-over h eth0", kKernel,
                "over ucma packets cannot be observed; use request, queued, fetched or call"},
        Refused{"on h request 1: reject 3", kKernel,
                "over ucma a rejection can only have the reason 28 or 35"},
        Refused{"on h request 1: overflow", kKernel,
                "over ucma a received request cannot be dropped"},
        Refused{"at 1s: port-up h mlx5_0", kKernel, "over ucma a port cannot be taken down"},
        Refused{"at 1s: port-up h mlx5_0", kSoft, "over fabric the only device is 'anyrdma0'"},
        Refused{"at 1s: remove h anyrdma2", kRails,
                "over fabric the devices are 'anyrdma0' to 'anyrdma1'"},
        Refused{"at 1s: port-down h anyrdma01", kRails,
                "over fabric the devices are 'anyrdma0' to 'anyrdma1'"},
        Refused{"at 1s: port-down h anyrdma1/2", kRails,
                "over fabric the only port is 'anyrdma1/1'"},
        Refused{"at 1s: remove h mlx5_0", kSoft, "over fabric the only device is 'anyrdma0'"},
        Refused{"at 1s: device-event h anyrdma0 SM_CHANGE", kKernel,
                "over ucma events of devices cannot be raised"},
        Refused{"at 1s: device-event h mlx5_0 SM_CHANGE", kSoft,
                "over fabric the only device is 'anyrdma0'"},
        Refused{"on h request 1: stale", kKernel,
                "over ucma a rejection can only have the reason 28 or 35"},
        Refused{"at 1s: srq-error h#srq1", kSoft, "over fabric 'srq-error' is not possible"},
        Refused{"at 1s: return h anyrdma0", kSoft, "over fabric 'return' is not possible"},
        Refused{"on h routing 1: unrouted EIO", kKernel,
                "over ucma the kernel resolves routes, which cannot be observed"},
        Refused{"on h request 1: mra 20", kKernel, "over ucma only the kernel sends MRA"},
        Refused{"on h request 1: ignore", kKernel,
                "over ucma a received request cannot be dropped"},
        Refused{"on h->* REQ 1: alter path_mtu 1", kKernel,
                "over ucma packets cannot be observed; use request, queued, fetched or call"},
        Refused{"on h->* REQ 1: alter colour 1", kSoft, "a REQ has no field 'colour'"},
        Refused{"on h->* REQ 1: alter path_mtu 16", kSoft, "'path_mtu' has 4 bits"},
        Refused{"on h resolving 1: unresolved EHOSTUNREACH", kSoft,
                "over fabric the resolution of addresses cannot be observed"},
        Refused{"at 1s: kill h/rping", kSoft,
                "over fabric the program is the whole host; write kill h"},
        Refused{"at 1s: fail-back h eth0", kSoft, "over fabric 'fail-back' is not possible"},
        Refused{"at 1s: cut h->*", kSoft, "over fabric 'cut' is not possible"},
        Refused{"on h call alloc_pd 1: fail ENOMEM", kKernel,
                "over ucma calls of verbs cannot be observed"},
        Refused{"on h completion SEND 1: complete RETRY_EXC_ERR", kKernel,
                "over ucma completions cannot be observed"},
        Refused{"on h->g REQ 1: remove g anyrdma0", kSoft,
                "its trigger and its action are on different hosts"},
        Refused{"on g->h REQ 1: remove h anyrdma0", kSoft,
                "its trigger and its action are on different hosts"},
        Refused{"on h request 1: remove g anyrdma0", kSoft,
                "its trigger and its action are on different hosts"},
        Refused{"on g request 1: remove h anyrdma0", kSoft,
                "its trigger and its action are on different hosts"}));

TEST(PartOfAPlan, HasThePacketsThatTheHostSendsAndThoseThatItGetsFromAnybody) {
  const FaultPlan plan = parsed(
      "on client->server REQ 1: lose\n"
      "on server->client packet 5%: delay 5ms\n"
      "on client->* packet all: duplicate\n"
      "on *->client packet 3: corrupt\n"
      "on *->* packet 7: reorder\n"
      "on *->client REP 1: remove client anyrdma0\n");

  EXPECT_EQ(part_of(plan, "client", kSoft)->to_string(),
            "on client->server REQ 1: lose\n"
            "on client->* packet all: duplicate\n"
            "on *->client packet 3: corrupt\n"
            "on *->* packet 7: reorder\n"
            "on *->client REP 1: remove client anyrdma0\n");
  EXPECT_EQ(part_of(plan, "server", kSoft)->to_string(),
            "on server->client packet 5%: delay 5ms\n"
            "on *->* packet 7: reorder\n");
  EXPECT_TRUE(watches_packets(plan));
  EXPECT_FALSE(watches_packets(parsed("on server request 1: overflow")));
}

TEST(PartOfAPlan, IsRefusedWhereItTellsPeersApart) {
  const auto part = part_of(parsed("on h->a packet 1: lose\non h->* packet 1: lose\n"
                                   "on h->b packet 1: lose"),
                            "h", kSoft);

  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().line, 3u);
  EXPECT_EQ(part.error().reason, "over fabric peers cannot be distinguished; write h->*");
}

TEST(PartOfAPlan, IsEmptyForAHostThatTheFaultsAreNotFor) {
  const FaultPlan plan = parsed("on server request 1: overflow\non client request 1: overflow");

  EXPECT_TRUE(part_of(plan, "observer", kSoft)->faults.empty());
  EXPECT_THAT(hosts_of(plan), ElementsAre("client", "server"));
  EXPECT_THAT(hosts_of(parsed("on * request 1: overflow")), IsEmpty());
}

}  // namespace
}  // namespace anyrdma::fault
