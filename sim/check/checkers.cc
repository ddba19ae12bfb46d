#include "sim/check/checkers.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <variant>

#include "sim/host.h"
#include "sim/text/text.h"
#include "sim/world.h"

namespace anyrdma::sim::check {
namespace {

using Step = transport::EventObserver::Step;

// The room for private data behind what the CM itself puts there (K/cma.c:cma_user_data_offset).
constexpr std::size_t kRequestRoom = 56;
constexpr std::size_t kReplyRoom = 196;
constexpr std::size_t kRejectionRoom = 148;
constexpr std::size_t kSidrRequestRoom = 180;
constexpr std::size_t kSidrReplyRoom = 136;

constexpr int kRejectedByConsumer = 28;
constexpr int kRejectedByVendor = 35;

bool is_datagram(const rdma_cm_id& id) {
  return id.qp_type == IBV_QPT_UD;
}

/// Without the scope, which each host counts for itself. Loopback addresses are of one host. Empty
/// when it is none of IP.
std::string address_text(const std::string& host, const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  std::uint16_t port = 0;
  bool loopback = false;
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    loopback = ntohl(in.sin_addr.s_addr) >> 24 == 127;
    port = ntohs(in.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
    loopback = IN6_IS_ADDR_LOOPBACK(&in.sin6_addr);
    port = ntohs(in.sin6_port);
  } else {
    return {};
  }
  return (loopback ? host + "/" : "") + text + "," + std::to_string(port);
}

std::string route_of(const std::string& host, const rdma_cm_id& id, bool active) {
  const rdma_addr& addr = id.route.addr;
  const std::string own = address_text(host, addr.src_storage);
  const std::string peer = address_text(host, addr.dst_storage);
  if (own.empty() || peer.empty()) return {};
  const std::string space = is_datagram(id) ? "UDP " : "TCP ";
  return space + (active ? own + "->" + peer : peer + "->" + own);
}

std::span<const std::uint8_t> data_of(const rdma_cm_event& event) {
  // At the same place in conn and ud.
  const rdma_conn_param& conn = event.param.conn;
  return {static_cast<const std::uint8_t*>(conn.private_data), conn.private_data_len};
}

Terms terms_of(const rdma_cm_event& event) {
  const rdma_conn_param& conn = event.param.conn;
  return {conn.qp_num, conn.responder_resources, conn.initiator_depth};
}

/// Faults that make themselves felt by lost messages, rejections or events alone, so that nothing
/// else has to be forgiven when they fire.
constexpr std::string_view kPlainFaults[] = {
    "lose",   "delay",     "duplicate", "corrupt",   "reject",  "stale", "overflow", "remove",
    "return", "fail-over", "fail-back", "port-down", "port-up", "cut",   "mend",     "slow"};

/// Whether what one side hears may be what nobody has said.
bool alters_messages(const Faults& faults) {
  if (!faults.watches_packets()) return false;
  return std::ranges::any_of(faults.status(), [](const FaultStatus& status) {
    return status.fired != 0 && std::holds_alternative<fault::AlterMessage>(status.fault.action);
  });
}

bool explains_itself(const fault::FaultAction& action) {
  const std::string_view kind = std::visit([](const auto& each) { return each.kKind; }, action);
  return std::ranges::find(kPlainFaults, kind) != std::end(kPlainFaults);
}

}  // namespace

std::vector<std::string> Checkers::violations() const {
  std::vector<std::string> all;
  for (const std::string& each : legality_.violations()) all.push_back("legality: " + each);
  all.insert(all.end(), violations_.lines().begin(), violations_.lines().end());
  return all;
}

// --- events -------------------------------------------------------------------------------------

void Checkers::on_event(const Host& host, Step step, std::uint64_t id, std::uint64_t listener,
                        const rdma_cm_event& event) {
  const Service service = is_datagram(*event.id) ? Service::kDatagram : Service::kConnected;
  legality_.on_event(host.name(), step, id, listener, event.event, service);
  const IdName name{host.name(), id};
  if (step == Step::kQueued) return on_queued(name, event);
  ledger_.on_fetched({host.name(), listener == 0 ? id : listener});
  on_fetched(host, name, event);
}

void Checkers::on_queued(const IdName& id, const rdma_cm_event& event) {
  Known& known = known_[id];
  switch (event.event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      known.passive = true;
      return;
    case RDMA_CM_EVENT_ESTABLISHED:
      if (is_datagram(*event.id)) return;
      known.connected = true;
      return agreement_.on_up(id);
    case RDMA_CM_EVENT_UNREACHABLE:
      if (known.active) return;  // perhaps only the neighbour has moved
      return agreement_.on_over(id);
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      private_data_.excuse({});  // the device's other ids may be requests that nobody has seen
      return agreement_.on_over(id);
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_DISCONNECTED:
      return agreement_.on_over(id);
    default:  // foreign enum
      return;
  }
}

void Checkers::on_fetched(const Host& host, const IdName& id, const rdma_cm_event& event) {
  if (alters_messages(host.world().faults())) return;
  Known& known = known_[id];
  const bool datagram = is_datagram(*event.id);
  if (event.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    known.route = watched_route(id.host, *event.id, false);
    if (known.route.empty()) return;
    private_data_.on_delivered(id, known.route, Carrier::kRequest,
                               datagram ? kSidrRequestRoom : kRequestRoom, data_of(event));
    if (!datagram) agreement_.on_heard(id, known.route, false, terms_of(event));
    return;
  }
  if (known.route.empty()) return;
  if (event.event == RDMA_CM_EVENT_REJECTED) {
    on_rejection(host, id, known, kRejectionRoom, event);
  } else if (event.event == RDMA_CM_EVENT_UNREACHABLE && datagram && event.status > 0) {
    on_rejection(host, id, known, kSidrReplyRoom, event);
  } else if (known.active && (event.event == RDMA_CM_EVENT_ESTABLISHED ||
                              event.event == RDMA_CM_EVENT_CONNECT_RESPONSE)) {
    on_response(id, known, event);
  }
}

void Checkers::on_response(const IdName& id, const Known& known, const rdma_cm_event& event) {
  const bool datagram = is_datagram(*event.id);
  private_data_.on_delivered(id, known.route, Carrier::kReply,
                             datagram ? kSidrReplyRoom : kReplyRoom, data_of(event));
  if (datagram) return;
  agreement_.on_heard(id, known.route, true, terms_of(event));
  if (event.event == RDMA_CM_EVENT_ESTABLISHED) compare_queue_pairs(id);
}

void Checkers::on_rejection(const Host& host, const IdName& id, const Known& known,
                            std::size_t room, const rdma_cm_event& event) {
  const bool by_user = is_datagram(*event.id) || event.status == kRejectedByConsumer ||
                       event.status == kRejectedByVendor;
  if (!by_user) return;
  for (const FaultStatus& status : host.world().faults().status()) {
    const auto* reject = std::get_if<fault::RejectRequest>(&status.fault.action);
    if (reject != nullptr && status.fired != 0) private_data_.excuse(reject->data);
  }
  private_data_.on_delivered(id, known.route, Carrier::kRejection, room, data_of(event));
}

const DeviceWatch* Checkers::device_of(const std::string& host, std::uint32_t qp) const {
  for (const Device& device : devices_) {
    if (device.host != host || device.watch->abandoned()) continue;
    if (device.watch->find(qp) != nullptr) return device.watch.get();
  }
  return nullptr;
}

void Checkers::compare_queue_pairs(const IdName& active) {
  const IdName passive = agreement_.peer_of(active);
  const std::uint32_t left = agreement_.terms_of(active).qp_num;
  const std::uint32_t right = agreement_.terms_of(passive).qp_num;
  const DeviceWatch* const here = device_of(active.host, left);
  const DeviceWatch* const there = device_of(passive.host, right);
  if (here == nullptr || there == nullptr) return;
  agreement_.on_queue_pairs(active, passive, here->hca().census_of(*here->find(left)), left,
                            there->hca().census_of(*there->find(right)), right);
}

void Checkers::on_acknowledged(const Host& host, std::uint64_t id) {
  ledger_.on_acknowledged({host.name(), id});
}

// --- calls --------------------------------------------------------------------------------------

void Checkers::over(const IdName& id) {
  agreement_.on_over(id);
  afterlife_.on_dead(id);
}

void Checkers::on_call(const Host& host, std::uint64_t id, std::string_view call, int error) {
  legality_.on_call(host.name(), id, call, error);
  const IdName name{host.name(), id};
  const auto found = known_.find(name);
  if (found == known_.end()) return;
  Known& known = found->second;
  if (call == "accept" && error != 0) private_data_.on_silent_end(known.route);
  if (error != 0) return;
  if (call == "establish") {
    known.connected = true;
    agreement_.on_up(name);
  } else if (call == "disconnect" && known.connected) {
    afterlife_.on_dead(name);
  } else if (call == "destroy") {
    over(name);
    if (known.passive && known.route.empty()) private_data_.excuse({});
    if (!known.route.empty() && !known.answered) private_data_.on_silent_end(known.route);
    known_.erase(found);
  }
}

void Checkers::on_handshake(const Host& host, std::uint64_t id, const rdma_cm_id& raw,
                            std::string_view call, const transport::ConnectionParameters& given) {
  const IdName name{host.name(), id};
  Known& known = known_[name];
  if (call != "reject") known.active = call == "connect";  // either side rejects
  const std::string route = watched_route(name.host, raw, known.active);
  if (known.active) known.route = route;
  if (call == "reject") {
    known.answered = true;
    return private_data_.on_given(route, Carrier::kRejection, given.private_data);
  }
  private_data_.on_given(route, known.active ? Carrier::kRequest : Carrier::kReply,
                         given.private_data);
  if (is_datagram(raw)) return;
  agreement_.on_offer(name, route, known.active,
                      {given.qp_num, given.responder_resources, given.initiator_depth});
  const DeviceWatch* const device = device_of(name.host, given.qp_num);
  if (device != nullptr) afterlife_.on_bound(name, device->name(), given.qp_num);
}

void Checkers::on_channels(const Host& host, int change) {
  channels_[host.name()] += change;
}

// --- the world ----------------------------------------------------------------------------------

void Checkers::on_misuse(const Host& host, const std::string& text) {
  violations_.add("misuse", host.name() + ": " + text);
}

void Checkers::on_crash(const Host& host) {
  legality_.on_crash(host.name());
  ledger_.on_crash(host.name());
  agreement_.on_crash(host.name());
  private_data_.excuse({});  // for requests that its peers had not answered
  std::erase_if(known_, [&](const auto& entry) { return entry.first.host == host.name(); });
  channels_.erase(host.name());
  for (const Device& device : devices_) {
    if (device.host == host.name()) device.watch->abandon();
  }
}

void Checkers::on_told(std::string_view process, const fault::Question& what) {
  using Kind = fault::Question::Kind;
  if (what.kind == Kind::kOpened) return legality_.on_crash(process);  // numbers begin again
  if (what.kind == Kind::kMade)
    return legality_.on_call(process, what.id, what.text(), what.status);
  if (what.kind != Kind::kQueued && what.kind != Kind::kFetched) return;
  legality_.on_event(process, what.kind == Kind::kQueued ? Step::kQueued : Step::kFetched, what.id,
                     what.listener, static_cast<rdma_cm_event_type>(what.event),
                     what.datagram ? Service::kDatagram : Service::kConnected);
}

void Checkers::on_outside(const ibv_gid& gid) {
  outside_.insert(std::to_array(gid.raw));
  payload_.believe(hex_text(gid.raw));
}

std::string Checkers::watched_route(const std::string& host, const rdma_cm_id& id,
                                    bool active) const {
  if (!outside_.empty()) {
    const auto peer = Address::from(reinterpret_cast<const sockaddr&>(id.route.addr.dst_storage));
    if (peer && outside_.contains(std::to_array(peer->gid().raw))) return {};
  }
  return route_of(host, id, active);
}

void Checkers::on_message_lost(const Host& at, const Host* peer) {
  agreement_.on_message_lost(at.name(), peer == nullptr ? std::string() : peer->name());
}

verbs::soft::HcaObserver* Checkers::watch(const Host& host, verbs::soft::Hca& hca) {
  const DeviceWatch::Shared shared{payload_, atomics_, keys_, afterlife_};
  auto watch = std::make_unique<DeviceWatch>(violations_, shared,
                                             host.name() + "/" + hca.config().name, hca);
  devices_.push_back({host.name(), std::move(watch)});
  return devices_.back().watch.get();
}

void Checkers::on_rest(const World& world) {
  for (const FaultStatus& status : world.faults().status()) {
    if (status.fired != 0 && !explains_itself(status.fault.action)) agreement_.excuse();
  }
  for (const auto& fiber : world.scheduler().fibers().all()) {
    if (fiber->ending() == Ending::kMustEnd) hung_ = true;
  }
  legality_.on_rest();
  agreement_.on_rest();
  for (const Device& device : devices_) device.watch->on_rest();
}

void Checkers::on_end(World&) {
  legality_.on_end();
  // A program that hangs never comes to its acknowledgements; World::run has reported that.
  if (!hung_) ledger_.on_end();
  for (const auto& [host, channels] : channels_) leaks_.on_channels_end(host, channels);
  for (const Device& device : devices_) device.watch->on_end();
}

}  // namespace anyrdma::sim::check
