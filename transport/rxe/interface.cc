#include "transport/rxe/interface.h"

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <netlink/errno.h>
#include <netlink/route/addr.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/netem.h>
#include <netlink/route/tc.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "transport/rxe/netlink.h"

namespace anyrdma::transport::rxe {
namespace {

constexpr const char* kNetem = "netem";
constexpr int kQueuedPackets = 1000;  // netem's own default; libnl's is none

template <class T, void (*put)(T*)>
struct Put {
  void operator()(T* object) const { put(object); }
};
using Address = std::unique_ptr<rtnl_addr, Put<rtnl_addr, rtnl_addr_put>>;
using BareAddress = std::unique_ptr<nl_addr, Put<nl_addr, nl_addr_put>>;
using Qdisc = std::unique_ptr<rtnl_qdisc, Put<rtnl_qdisc, rtnl_qdisc_put>>;

Result<int> index_of(const std::string& interface) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) return RxeErrc::kNoInterface;
  return static_cast<int>(index);
}

Result<void> result_of(int code) {
  if (code >= 0) return {};
  const int error = errno_of_netlink(code);
  if (error == EPERM) return RxeErrc::kNotPermitted;
  return verbs::errno_code(error);
}

Result<Address> parse_address(const std::string& interface, const std::string& text) {
  const auto index = index_of(interface);
  if (!index) return index.error();
  nl_addr* parsed = nullptr;
  if (nl_addr_parse(text.c_str(), AF_UNSPEC, &parsed) < 0) return verbs::errno_code(EINVAL);
  const BareAddress local(parsed);
  Address result(rtnl_addr_alloc());
  if (!result) return verbs::errno_code(ENOMEM);
  rtnl_addr_set_ifindex(result.get(), *index);
  if (rtnl_addr_set_local(result.get(), local.get()) < 0) return verbs::errno_code(EINVAL);
  return result;
}

Result<void> change_address(const std::string& interface, const std::string& text,
                            int (*change)(nl_sock*, rtnl_addr*, int)) {
  auto address = parse_address(interface, text);
  if (!address) return address.error();
  auto netlink = Netlink::open(NETLINK_ROUTE);
  if (!netlink) return netlink.error();
  return result_of(change(netlink->get(), address->get(), 0));
}

Result<Qdisc> root_of(const std::string& interface) {
  const auto index = index_of(interface);
  if (!index) return index.error();
  Qdisc qdisc(rtnl_qdisc_alloc());
  if (!qdisc) return verbs::errno_code(ENOMEM);
  rtnl_tc_set_ifindex(TC_CAST(qdisc.get()), *index);
  rtnl_tc_set_parent(TC_CAST(qdisc.get()), TC_H_ROOT);
  return qdisc;
}

/// netem's probabilities are fractions of 2^32 - 1.
int scaled(double probability) {
  const double all = std::numeric_limits<std::uint32_t>::max();
  return static_cast<int>(static_cast<std::uint32_t>(std::llround(probability * all)));
}

bool fits(std::chrono::microseconds time) {
  return time.count() >= 0 && time.count() <= std::numeric_limits<int>::max();
}

bool is_possible(const Impairment& impairment) {
  return impairment.loss >= 0 && impairment.loss <= 1 && fits(impairment.delay) &&
         fits(impairment.jitter);
}

}  // namespace

Result<void> add_address(const std::string& interface, const std::string& address) {
  return change_address(interface, address, rtnl_addr_add);
}

Result<void> remove_address(const std::string& interface, const std::string& address) {
  return change_address(interface, address, rtnl_addr_delete);
}

Result<void> impair(const std::string& interface, const Impairment& impairment) {
  if (!is_possible(impairment)) return verbs::errno_code(EINVAL);
  auto qdisc = root_of(interface);
  if (!qdisc) return qdisc.error();
  rtnl_qdisc* const netem = qdisc->get();
  if (rtnl_tc_set_kind(TC_CAST(netem), kNetem) < 0) return verbs::errno_code(ENOMEM);
  rtnl_netem_set_limit(netem, kQueuedPackets);
  rtnl_netem_set_loss(netem, scaled(impairment.loss));
  rtnl_netem_set_delay(netem, static_cast<int>(impairment.delay.count()));
  rtnl_netem_set_jitter(netem, static_cast<int>(impairment.jitter.count()));
  auto netlink = Netlink::open(NETLINK_ROUTE);
  if (!netlink) return netlink.error();
  auto made = result_of(rtnl_qdisc_add(netlink->get(), netem, NLM_F_CREATE | NLM_F_REPLACE));
  if (!made && made.error().value() == ENOENT) return RxeErrc::kNoNetem;
  return made;
}

Result<void> repair(const std::string& interface) {
  auto qdisc = root_of(interface);
  if (!qdisc) return qdisc.error();
  auto netlink = Netlink::open(NETLINK_ROUTE);
  if (!netlink) return netlink.error();
  auto removed = result_of(rtnl_qdisc_delete(netlink->get(), qdisc->get()));
  const int error = removed ? 0 : removed.error().value();
  if (error == ENOENT || error == EINVAL) return {};  // only the kernel's own is there
  return removed;
}

}  // namespace anyrdma::transport::rxe
