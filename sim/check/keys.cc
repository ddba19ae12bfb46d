#include "sim/check/keys.h"

#include <algorithm>

namespace anyrdma::sim::check {
namespace {

constexpr std::string_view kKeys = "keys";

}  // namespace

Keys::Address Keys::address_of(const ibv_gid& gid) {
  Address address{};
  std::copy(std::begin(gid.raw), std::end(gid.raw), address.begin());
  return address;
}

void Keys::on_address(const std::string& device, const ibv_gid& gid) {
  const Address address = address_of(gid);
  if (address != Address{}) devices_[address] = device;
}

void Keys::on_closed(const std::string& device, std::uint32_t key) {
  closed_[{device, key}] = ++closings_;
}

Keys::Closing Keys::closing_of(const ibv_gid& gid, std::uint32_t key) const {
  const auto device = devices_.find(address_of(gid));
  if (device == devices_.end()) return 0;
  const auto closed = closed_.find({device->second, key});
  return closed == closed_.end() ? 0 : closed->second;
}

void Keys::on_success(const std::string& qp, const ibv_gid& gid, std::uint32_t key,
                      Closing posted) {
  if (posted == 0 || closing_of(gid, key) != posted) return;
  violations_.add(kKeys, qp + ": what names key " + std::to_string(key) +
                             " succeeded, which was closed before");
}

}  // namespace anyrdma::sim::check
