// Against what iproute2's `rdma` and Linux 6.1 said to each other, as strace recorded it.
#include "transport/rxe/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace anyrdma::transport::rxe {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoul(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

/// An answer as it lies in a socket's buffer: aligned, and only as long as it is.
class Answer {
 public:
  Answer(std::uint16_t type, const Bytes& body) : words_((NLMSG_HDRLEN + body.size() + 3) / 4) {
    header().nlmsg_len = static_cast<std::uint32_t>(NLMSG_HDRLEN + body.size());
    header().nlmsg_type = type;
    if (!body.empty()) {
      std::memcpy(reinterpret_cast<std::uint8_t*>(words_.data()) + NLMSG_HDRLEN, body.data(),
                  body.size());
    }
  }
  [[nodiscard]] nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(words_.data()); }

 private:
  std::vector<std::uint32_t> words_;
};

/// rxe0 in the list of devices.
const Bytes kDevice = from_hex(
    "080001000000000009000200727865300000000008000300010000000c000400763c2201000000000c00060018a2"
    "84fefffcdfe40c00070018a284fefffcdfe405000e0001000000050054000000000009004300726f636500000000");
constexpr std::uint16_t kDeviceType = 0x1401;
/// Its port, on veth0.
const Bytes kPort = from_hex(
    "0800010000000000090002007278653000000000080003000100000005000c000400000005000d00050000000800"
    "3200030000000a0033007665746830000000");
/// Its uverbs device.
const Bytes kDriver = from_hex(
    "080049000e0000000c004800c0e70000000000000c00470002000000000000000c0046007576657262733000");
constexpr std::uint16_t kDriverType = 0x140f;

void expect_request(const Result<Message>& request, std::uint16_t type, std::string_view body) {
  ASSERT_TRUE(request);
  nlmsghdr* const header = nlmsg_hdr(request->get());
  EXPECT_EQ(header->nlmsg_type, type);
  const auto* const bytes = static_cast<const std::uint8_t*>(nlmsg_data(header));
  EXPECT_EQ(Bytes(bytes, bytes + nlmsg_datalen(header)), from_hex(body));
}

TEST(RdmaNetlinkRequest, ForTheDevicesIsTheOneOfIproute2) {
  const auto request = ask_for_devices();
  expect_request(request, 0x1401, "");
  EXPECT_EQ(nlmsg_hdr(request->get())->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
}

TEST(RdmaNetlinkRequest, ForAPortIsTheOneOfIproute2) {
  expect_request(ask_for_port(0), 0x1405, "08000100000000000800030001000000");
}

TEST(RdmaNetlinkRequest, ForTheDriverIsTheOneOfLibibverbs) {
  expect_request(ask_for_driver(2), 0x140f, "08000100020000000b0045007576657262730000");
}

TEST(RdmaNetlinkRequest, ToAddALinkIsTheOneOfIproute2) {
  expect_request(make_link("rxe3", "lo"), 0x1403,
                 "0900020072786533000000000800410072786500070033006c6f0000");
}

TEST(RdmaNetlinkRequest, ToRemoveALinkIsTheOneOfIproute2) {
  expect_request(remove_link(1), 0x1404, "0800010001000000");
}

TEST(RdmaNetlinkAnswer, NamesADevice) {
  Answer answer(kDeviceType, kDevice);

  const Device device = parse_device(answer.header()).value();

  EXPECT_EQ(device.index, 0u);
  EXPECT_EQ(device.name, "rxe0");
}

TEST(RdmaNetlinkAnswer, NamesTheInterfaceOfAPort) {
  Answer answer(kDeviceType, kPort);

  EXPECT_EQ(parse_interface(answer.header()).value(), "veth0");
}

TEST(RdmaNetlinkAnswer, HasNoInterfaceWhereThePortHasNone) {
  Answer answer(kDeviceType, kDevice);

  EXPECT_EQ(parse_interface(answer.header()).value(), "");
}

TEST(RdmaNetlinkAnswer, TellsTheDriver) {
  Answer answer(kDriverType, kDriver);

  EXPECT_EQ(parse_driver(answer.header()).value(), std::uint32_t{RDMA_DRIVER_RXE});
}

TEST(RdmaNetlinkAnswer, IsRefusedWhenItLacksWhatWasAskedFor) {
  Answer empty(kDeviceType, {});
  EXPECT_EQ(parse_device(empty.header()).error().value(), EBADMSG);
  Answer device(kDeviceType, kDevice);
  EXPECT_EQ(parse_driver(device.header()).error().value(), EBADMSG);
  Answer driver(kDriverType, kDriver);
  EXPECT_EQ(parse_device(driver.header()).error().value(), EBADMSG);
}

TEST(RdmaNetlinkAnswer, IsRefusedWhenItIsNotAboutRdmaDevices) {
  Answer answer(RTM_NEWLINK, kDevice);

  EXPECT_EQ(parse_device(answer.header()).error().value(), EBADMSG);
  EXPECT_EQ(parse_interface(answer.header()).error().value(), EBADMSG);
}

// Attributes that a shorter answer still has whole are read, others are not; never beyond its end.
TEST(RdmaNetlinkAnswer, MayBreakOffAnywhere) {
  for (std::size_t length = 0; length < kDevice.size(); ++length) {
    Answer answer(kDeviceType, Bytes(kDevice.begin(), kDevice.begin() + std::ptrdiff_t(length)));
    const auto device = parse_device(answer.header());
    EXPECT_EQ(device.has_value(), length >= 17) << length;
    EXPECT_EQ(device ? device->name : "rxe0", "rxe0");
  }
}

TEST(RdmaNetlinkAnswer, IsRefusedWhenANameDoesNotEnd) {
  Bytes body = kDevice;
  body[16] = 'x';  // the zero after rxe0

  Answer answer(kDeviceType, body);

  EXPECT_EQ(parse_device(answer.header()).error().value(), EBADMSG);
}

}  // namespace
}  // namespace anyrdma::transport::rxe
