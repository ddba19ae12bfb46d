#include "transport/rxe/link.h"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "transport/rxe/last_will.h"
#include "transport/rxe/messages.h"
#include "transport/rxe/netlink.h"

namespace anyrdma::transport::rxe {
namespace {

constexpr std::chrono::seconds kGidTime(2);
constexpr int kFirstGids = 8;             // link-local ones come first
constexpr std::size_t kLongestName = 63;  // IB_DEVICE_NAME_MAX, with its end

bool is_link_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

Result<Netlink> open_rdma() {
  auto netlink = Netlink::open(NETLINK_RDMA);
  if (!netlink && netlink.error().value() == EPROTONOSUPPORT) return RxeErrc::kNoRdma;
  return netlink;
}

Result<std::vector<Device>> devices(Netlink& netlink) {
  auto request = ask_for_devices();
  if (!request) return request.error();
  std::vector<Device> result;
  const auto asked = netlink.ask(**request, [&](nlmsghdr& answer) {
    if (auto device = parse_device(answer)) result.push_back(std::move(*device));
  });
  if (!asked) return asked.error();
  return result;
}

/// A question with one answer. EBADMSG: none came.
template <class T>
Result<T> ask_once(Netlink& netlink, const Result<Message>& request,
                   Result<T> (*parse)(nlmsghdr& answer)) {
  if (!request) return request.error();
  Result<T> result = verbs::errno_code(EBADMSG);
  const auto asked = netlink.ask(**request, [&](nlmsghdr& answer) { result = parse(answer); });
  if (!asked) return asked.error();
  return result;
}

bool is_rxe(Netlink& netlink, const Device& device) {
  const auto driver = ask_once(netlink, ask_for_driver(device.index), parse_driver);
  return driver && *driver == RDMA_DRIVER_RXE;
}

Result<std::uint32_t> index_of(Netlink& netlink, const std::string& name) {
  const auto all = devices(netlink);
  if (!all) return all.error();
  const auto found = std::find_if(all->begin(), all->end(),
                                  [&](const Device& device) { return device.name == name; });
  if (found == all->end()) return RxeErrc::kNoLink;
  return found->index;
}

bool has_ipv4_gid(const std::string& device) {
  constexpr const char* kMapped = "0000:0000:0000:0000:0000:ffff:";
  for (int index = 0; index < kFirstGids; ++index) {
    std::ifstream file("/sys/class/infiniband/" + device + "/ports/1/gids/" +
                       std::to_string(index));
    std::string gid;
    if (file >> gid && gid.starts_with(kMapped)) return true;
  }
  return false;
}

/// The kernel fills the table in its own time.
void await_address(const std::string& device) {
  const auto deadline = std::chrono::steady_clock::now() + kGidTime;
  while (!has_ipv4_gid(device) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kGidTime) / 1000);
  }
}

}  // namespace

Result<std::vector<LinkInfo>> links() {
  auto netlink = open_rdma();
  if (!netlink) return netlink.error();
  auto all = devices(*netlink);
  if (!all) return all.error();
  std::vector<LinkInfo> result;
  for (Device& device : *all) {
    if (!is_rxe(*netlink, device)) continue;
    auto interface = ask_once(*netlink, ask_for_port(device.index), parse_interface);
    if (!interface) continue;  // removed meanwhile
    result.push_back({device.index, std::move(device.name), std::move(*interface)});
  }
  std::sort(result.begin(), result.end(),
            [](const LinkInfo& a, const LinkInfo& b) { return a.index < b.index; });
  return result;
}

Result<void> add_link(const std::string& name, const std::string& interface) {
  if (!is_link_name(name)) return RxeErrc::kBadName;
  if (interface.empty() || interface.size() >= IFNAMSIZ) return RxeErrc::kNoInterface;
  auto netlink = open_rdma();
  if (!netlink) return netlink.error();
  auto request = make_link(name, interface);
  if (!request) return request.error();
  auto asked = netlink->ask(**request);
  if (!asked) return what_adding_met(asked.error());
  return {};
}

Result<void> remove_link(const std::string& name) {
  auto netlink = open_rdma();
  if (!netlink) return netlink.error();
  const auto index = index_of(*netlink, name);
  if (!index) return index.error();
  auto request = remove_link(*index);
  if (!request) return request.error();
  auto asked = netlink->ask(**request);
  if (!asked) return what_removing_met(asked.error());
  return {};
}

Result<Link> Link::add(const std::string& name, const std::string& interface) {
  if (auto added = add_link(name, interface); !added) return added.error();
  return Link(name, ::getpid());
}

Result<Link> Link::find_or_add(const std::string& interface) {
  const auto there = links();
  if (!there) return there.error();
  for (const LinkInfo& link : *there) {
    if (interface.empty() || link.interface == interface) return Link(link.name, 0);
  }
  const Result<std::string> chosen = interface.empty() ? suitable_interface() : interface;
  if (!chosen) return chosen.error();
  auto added = add_under_a_free_name(*chosen);
  // Somebody may have been faster; the link is theirs then.
  if (!added && added.error() == RxeErrc::kInterfaceTaken) return find_or_add(*chosen);
  if (added) await_address(added->name_);
  return added;
}

Result<Link> Link::add_under_a_free_name(const std::string& interface) {
  for (int number = 0;; ++number) {
    auto added = add("rxe" + std::to_string(number), interface);
    if (added || added.error() != RxeErrc::kNameTaken) return added;
  }
}

Result<void> Link::end_with_process() {
  if (!was_made()) return {};
  auto netlink = open_rdma();
  if (!netlink) return netlink.error();
  const auto index = index_of(*netlink, name_);
  if (!index) return index.error();
  auto request = remove_link(*index);
  if (!request) return request.error();
  auto left = send_after_the_end(**request, "/sys/class/infiniband/" + name_);
  if (left) maker_ = 0;
  return left;
}

Link::~Link() {
  if (was_made() && maker_ == ::getpid()) static_cast<void>(remove_link(name_).has_value());
}

Link::Link(Link&& other) noexcept
    : name_(std::move(other.name_)), maker_(std::exchange(other.maker_, 0)) {}

Result<std::string> suitable_interface() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return verbs::errno_code(errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    const bool has_ipv4 = each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET;
    const bool is_up = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (has_ipv4 && is_up) return std::string(each->ifa_name);
  }
  return RxeErrc::kNoneSuitable;
}

}  // namespace anyrdma::transport::rxe
