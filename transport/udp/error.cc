#include "transport/udp/error.h"

#include <cerrno>

namespace anyrdma::transport::udp {
namespace {

struct Row {
  UdpErrc error;
  int number;
  const char* message;
};

constexpr Row kRows[] = {
    {UdpErrc::kBadAddress, EINVAL, "not an IP address"},
    {UdpErrc::kNoAddress, ENODEV, "no interface with an address"},
    {UdpErrc::kNotLocal, EADDRNOTAVAIL, "not an address of this machine"},
    {UdpErrc::kPortTaken, EADDRINUSE, "the UDP port is taken"},
    {UdpErrc::kNoNamespace, ENOENT, "no such network namespace"},
    {UdpErrc::kNotPermitted, EPERM, "the network namespace may not be entered"},
    {UdpErrc::kNoSocket, EACCES, "UDP sockets are refused"},
    {UdpErrc::kTooManyDevices, EINVAL, "too many devices"},
    {UdpErrc::kNoResources, EMFILE, "out of descriptors, memory or threads"},
};

const Row* row_of(int value) {
  for (const Row& row : kRows)
    if (static_cast<int>(row.error) == value) return &row;
  return nullptr;
}

class UdpCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "anyrdma-udp"; }
  std::string message(int value) const override {
    const Row* row = row_of(value);
    return row != nullptr ? row->message : "unknown error of RoCE over UDP";
  }
  boost::system::error_condition default_error_condition(int value) const noexcept override {
    const Row* row = row_of(value);
    if (row == nullptr) return {value, *this};
    return {row->number, boost::system::generic_category()};
  }
};

std::string addresses_of(const UdpConfig& config) {
  std::string list;
  const auto add = [&list](const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses)
      list += (list.empty() ? "'" : ", '") + address + "'";
  };
  if (config.devices.empty()) add(config.addresses);
  for (const std::vector<std::string>& device : config.devices) add(device);
  return list.empty() ? "this machine's addresses" : list;
}

std::string sentence(UdpErrc error, const UdpConfig& config) {
  const std::string addresses = addresses_of(config);
  const std::string port = std::to_string(config.port);
  switch (error) {
    case UdpErrc::kBadAddress:
      return "Of " + addresses +
             " one is no address, belongs to two devices, or is missing: write IPv4 or IPv6 "
             "addresses such as 192.0.2.1, separated by commas, and by semicolons between devices.";
    case UdpErrc::kNoAddress:
      return "No interface that is up has an address other than loopback: bring one up, or name "
             "loopback addresses such as 127.0.0.2.";
    case UdpErrc::kNotLocal:
      return "Of " + addresses +
             " one belongs to no interface that is up: `ip address` lists those that do.";
    case UdpErrc::kPortTaken:
      return "UDP port " + port + " of " + addresses +
             " is taken, by another process or by the kernel's Soft-RoCE: give each process an "
             "address of its own, or remove the kernel's links (`rdma link`) and its module "
             "(`rmmod rdma_rxe`).";
    case UdpErrc::kNoNamespace:
      return "'" + config.network_namespace +
             "' is no network namespace: `ip netns add NAME` makes /run/netns/NAME.";
    case UdpErrc::kNotPermitted:
      return "The network namespace '" + config.network_namespace +
             "' may not be entered: that takes CAP_SYS_ADMIN; run as root, or inside the "
             "namespace (`ip netns exec`).";
    case UdpErrc::kNoSocket:
      return "The system refuses UDP sockets on port " + port +
             ": allow AF_INET and AF_INET6 datagram sockets in this sandbox.";
    case UdpErrc::kTooManyDevices:
      return "Addresses of " + std::to_string(config.devices.size()) +
             " devices are too many: name at most " + std::to_string(kDevicesMax) + ".";
    case UdpErrc::kNoResources:
      return "No descriptors, memory or threads are left to open UDP sockets: raise the limits "
             "(ulimit -n, ulimit -u).";
  }
  return "unknown error of RoCE over UDP";
}

}  // namespace

const boost::system::error_category& udp_category() {
  static const UdpCategory category;
  return category;
}

std::string explain(const boost::system::error_code& error, const UdpConfig& config) {
  if (error.category() == udp_category())
    return sentence(static_cast<UdpErrc>(error.value()), config);
  return "RoCE over UDP cannot be opened: " + error.message() + ".";
}

}  // namespace anyrdma::transport::udp
