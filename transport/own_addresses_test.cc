#include "transport/own_addresses.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "transport/testing/mock_transport.h"
#include "verbs/testing/errno_of.h"
#include "verbs/testing/fake_provider.h"
#include "verbs/testing/fake_runtime.h"

namespace anyrdma::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A device whose GID tables the test writes, one per port.
class TableProvider : public verbs::testing::FakeProvider {
 public:
  using FakeProvider::FakeProvider;

  void add(const char* address, std::uint32_t type = IBV_GID_TYPE_ROCE_V2, std::size_t port = 1) {
    attributes.phys_port_cnt = 2;
    ibv_gid_entry entry{};
    entry.gid_type = type;
    ASSERT_EQ(inet_pton(AF_INET6, address, entry.gid.raw), 1) << address;
    tables_[port - 1].push_back(entry);
  }
  void add_gap() { tables_[0].push_back({}); }

  Result<void> query_port(ibv_context*, std::uint8_t port, ibv_port_attr* attr) override {
    if (port_error != 0) return verbs::errno_code(port_error);
    attr->gid_tbl_len = static_cast<int>(tables_[port - 1U].size());
    return {};
  }
  Result<ibv_gid_entry> query_gid(ibv_context*, std::uint8_t port, std::uint32_t index) override {
    const ibv_gid_entry& entry = tables_[port - 1U][index];
    if (entry.gid.global.interface_id == 0) return verbs::errno_code(ENODATA);
    return entry;
  }

  int port_error = 0;

 private:
  std::vector<ibv_gid_entry> tables_[2];
};

class OwnAddresses : public ::testing::Test {
 protected:
  OwnAddresses() { transport.default_binding.verbs = provider.context(); }

  std::vector<std::string> found() {
    std::vector<std::string> result;
    for (const sockaddr_storage& address : own_addresses(transport).value()) {
      char text[INET6_ADDRSTRLEN] = "?";
      const void* bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
      if (address.ss_family == AF_INET) {
        bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
      }
      inet_ntop(address.ss_family, bytes, text, sizeof text);
      result.emplace_back(text);
    }
    return result;
  }

  verbs::testing::FakeRuntime runtime;
  TableProvider provider{runtime};
  ::testing::NiceMock<testing::MockTransport> transport{runtime, provider};
};

TEST_F(OwnAddresses, AreIpv4OfMappedGidsAndIpv6OfOthers) {
  provider.add("::ffff:10.9.0.1");
  provider.add("2001:db8::1");

  EXPECT_THAT(found(), ElementsAre("10.9.0.1", "2001:db8::1"));
}

TEST_F(OwnAddresses, LeaveOutLinkLocalOnesAndGaps) {
  provider.add("fe80::1");
  provider.add_gap();
  provider.add("::ffff:10.9.0.1");

  EXPECT_THAT(found(), ElementsAre("10.9.0.1"));
}

TEST_F(OwnAddresses, HaveThoseOfTheLoopbackInterfaceLast) {
  provider.add("::ffff:127.0.0.1");
  provider.add("::1");
  provider.add("::ffff:10.9.0.1");

  EXPECT_THAT(found(), ElementsAre("10.9.0.1", "127.0.0.1", "::1"));
}

TEST_F(OwnAddresses, AreListedOnceThoughBothVersionsOfRoceHaveThem) {
  provider.add("::ffff:10.9.0.1", IBV_GID_TYPE_ROCE_V1);
  provider.add("::ffff:10.9.0.1", IBV_GID_TYPE_ROCE_V2);

  EXPECT_THAT(found(), ElementsAre("10.9.0.1"));
}

TEST_F(OwnAddresses, ComeFromAllPorts) {
  provider.add("::ffff:10.9.0.1", IBV_GID_TYPE_ROCE_V2, 1);
  provider.add("::ffff:10.9.1.1", IBV_GID_TYPE_ROCE_V2, 2);

  EXPECT_THAT(found(), ElementsAre("10.9.0.1", "10.9.1.1"));
}

TEST_F(OwnAddresses, AreNoneWhereGidsAreNoAddresses) {
  provider.add("2001:db8::1", IBV_GID_TYPE_IB);

  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(OwnAddresses, AreNoneWithoutADevice) {
  transport.remove_devices();

  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(OwnAddresses, AreNoneOfADeviceThatJustVanished) {
  provider.add("::ffff:10.9.0.1");
  provider.port_error = EIO;

  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(OwnAddresses, SayWhyATableCannotBeRead) {
  provider.add("::ffff:10.9.0.1");
  provider.port_error = ENOMEM;

  EXPECT_EQ(verbs::testing::errno_of(own_addresses(transport)), ENOMEM);
}

}  // namespace
}  // namespace anyrdma::transport
