#include "transport/soft/cma_header.h"

#include <algorithm>
#include <string>

#include "verbs/assert.h"

namespace anyrdma::transport::soft {
namespace {

using namespace cma_layout;

constexpr std::size_t kIpv4Bytes = 4;

class HeaderCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "cma-header"; }
  std::string message(int value) const override {
    switch (static_cast<HeaderErrc>(value)) {
      case HeaderErrc::kLength:
        return "shorter than the CM's IP header";
      case HeaderErrc::kVersion:
        return "unknown version of the CM's IP header";
      case HeaderErrc::kIpVersion:
        return "neither IPv4 nor IPv6";
    }
    return "unknown header error";
  }
};

Address read(std::uint8_t ip_version, std::span<const std::uint8_t, 16> bytes) {
  Address address = Address::wildcard(ip_version == 4 ? AF_INET : AF_INET6);
  const std::size_t used = ip_version == 4 ? kIpv4Bytes : bytes.size();
  std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>(used), used,
              address.ip.end() - static_cast<std::ptrdiff_t>(used));
  return address;
}

void write(const Address& address, std::span<std::uint8_t, 16> bytes) {
  const std::size_t used = address.family == AF_INET ? kIpv4Bytes : bytes.size();
  std::copy_n(address.ip.end() - static_cast<std::ptrdiff_t>(used), used,
              bytes.end() - static_cast<std::ptrdiff_t>(used));
}

}  // namespace

const boost::system::error_category& header_category() {
  static const HeaderCategory category;
  return category;
}

verbs::Result<CmaHeader> CmaHeader::parse(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kSize) return HeaderErrc::kLength;
  const std::uint8_t* data = bytes.data();
  if (wire::get<kVersion>(data) != 0) return HeaderErrc::kVersion;
  const std::uint8_t ip_version = wire::get<kIpVersion>(data);
  if (ip_version != 4 && ip_version != 6) return HeaderErrc::kIpVersion;
  CmaHeader header{read(ip_version, wire::bytes_of<kSource>(data)),
                   read(ip_version, wire::bytes_of<kDestination>(data))};
  header.source.port = wire::get<kSourcePort>(data);
  return header;
}

void CmaHeader::serialize(std::span<std::uint8_t, kSize> bytes) const {
  CM_ASSERT(source.family == destination.family);
  std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
  wire::put<kIpVersion>(bytes.data(), source.family == AF_INET ? 4 : 6);
  wire::put<kSourcePort>(bytes.data(), source.port);
  write(source, wire::bytes_of<kSource>(bytes.data()));
  write(destination, wire::bytes_of<kDestination>(bytes.data()));
}

int fuzz_cma_header(const std::uint8_t* data, std::size_t size) {
  const verbs::Result<CmaHeader> header = CmaHeader::parse({data, size});
  if (!header) return 0;
  std::array<std::uint8_t, CmaHeader::kSize> bytes;
  header->serialize(bytes);
  const verbs::Result<CmaHeader> again = CmaHeader::parse(bytes);
  CM_ASSERT(again.has_value());
  CM_ASSERT(*again == *header);
  return 0;
}

}  // namespace anyrdma::transport::soft
