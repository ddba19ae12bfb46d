#include "check/entry_checkers.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "recording/enumerators.h"

namespace anyrdma::check {
namespace {

using recording::Entry;
using recording::EntryKind;
using Step = transport::EventObserver::Step;

// The room for private data behind what the CM itself puts there (K/cma.c:cma_user_data_offset).
constexpr std::size_t kRequestRoom = 56;
constexpr std::size_t kReplyRoom = 196;
constexpr std::size_t kRejectionRoom = 148;
constexpr std::size_t kSidrRequestRoom = 180;
constexpr std::size_t kSidrReplyRoom = 136;

constexpr int kRejectedByConsumer = 28;
constexpr int kRejectedByVendor = 35;

/// One address of kGiven and kFetched (recording/work/ids.h). Loopback addresses are of one host.
/// Adds it to `text`, and returns false if there is none, or none of IP.
bool take_address(std::string_view& bytes, const std::string& host, std::string& text) {
  constexpr std::size_t kHead = 3;
  if (bytes.size() < kHead) return false;
  const auto size = static_cast<std::uint8_t>(bytes[0]);
  if (bytes.size() < kHead + size) return false;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const auto add = [&text](unsigned number) {
    std::array<char, 8> digits{};
    text.append(digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr);
  };
  if (size == sizeof(in_addr)) {
    constexpr std::uint8_t kLoopback = 127;
    if (byte(kHead) == kLoopback) text.append(host) += '/';
    for (std::size_t i = 0; i < size; ++i) {
      if (i != 0) text += '.';
      add(byte(kHead + i));
    }
  } else if (size == sizeof(in6_addr)) {
    in6_addr address{};
    std::memcpy(&address, bytes.data() + kHead, sizeof address);
    std::array<char, INET6_ADDRSTRLEN> name{};
    ::inet_ntop(AF_INET6, &address, name.data(), name.size());
    if (IN6_IS_ADDR_LOOPBACK(&address)) text.append(host) += '/';
    text += name.data();
  } else {
    return false;
  }
  text += ',';
  add(unsigned{byte(1)} << 8 | byte(2));
  bytes.remove_prefix(kHead + size);
  return true;
}

std::string route_of(std::string_view addresses, const std::string& host, bool datagram,
                     bool active) {
  std::string own, peer;
  std::string text = datagram ? "UDP " : "TCP ";
  if (!take_address(addresses, host, own) || !take_address(addresses, host, peer)) return {};
  text += active ? own : peer;
  text += "->";
  text += active ? peer : own;
  return text;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// An event's parameters as recording/packets writes them: six numbers of a byte each,
/// the queue pair's number in four, the size of the private data, and the data.
struct Parameters {
  explicit Parameters(std::string_view text) {
    constexpr std::size_t kPairAt = 6;
    constexpr std::size_t kDataAt = kPairAt + sizeof(std::uint32_t) + 1;
    const auto bytes = bytes_of(text);
    if (bytes.size() < kDataAt) return;
    terms.responder_resources = bytes[0];
    terms.initiator_depth = bytes[1];
    for (std::size_t i = 0; i < sizeof(std::uint32_t); ++i)
      terms.qp_num |= std::uint32_t{bytes[kPairAt + i]} << (8 * i);
    data = bytes.subspan(kDataAt);
    data = data.first(std::min<std::size_t>(data.size(), bytes[kDataAt - 1]));
  }
  Terms terms{};
  std::span<const std::uint8_t> data{};
};

/// What librdmacm does before an event is fetched can fail, or finish the connection.
bool turns_into(std::uint64_t queued, std::uint64_t fetched) {
  return queued == RDMA_CM_EVENT_CONNECT_RESPONSE && fetched == RDMA_CM_EVENT_ESTABLISHED;
}

/// Whether an event brings what the peer's program gave, not its CM alone.
bool is_from_program(bool datagram, bool active, std::uint64_t event, std::int64_t status) {
  switch (event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      return true;
    case RDMA_CM_EVENT_REJECTED:
      return datagram || status == kRejectedByConsumer || status == kRejectedByVendor;
    case RDMA_CM_EVENT_UNREACHABLE:
      return datagram && status > 0;
    case RDMA_CM_EVENT_ESTABLISHED:
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      return active;
    default:  // foreign enum
      return false;
  }
}

/// What brings such an event, of those that is_from_program() names.
Carrier carrier_of(std::uint64_t event) {
  if (event == RDMA_CM_EVENT_CONNECT_REQUEST) return Carrier::kRequest;
  const bool rejects = event == RDMA_CM_EVENT_REJECTED || event == RDMA_CM_EVENT_UNREACHABLE;
  return rejects ? Carrier::kRejection : Carrier::kReply;
}

/// Faults that make themselves felt by lost messages, rejections or events alone, so that nothing
/// else has to be forgiven when they fire.
constexpr std::string_view kPlainFaults[] = {
    "lose",     "delay",  "duplicate", "corrupt",   "reject",    "stale",
    "overflow", "remove", "return",    "fail-over", "fail-back", "port-down",
    "port-up",  "cut",    "mend",      "slow",      "flap"};

}  // namespace

// The clocks of processes in real time may differ: one may report a call long after the other
// reports the end of the connection.
Checkers::Checkers(Source source) : source_(source), keeps_all_(source == Source::kProcesses) {
  constexpr verbs::Duration kGrace = std::chrono::milliseconds(1);
  if (source_ == Source::kProcesses) keys_.set_grace(kGrace);
}

std::vector<std::string> Checkers::findings() const {
  std::vector<std::string> all;
  for (const std::string& each : legality_.violations()) all.push_back("legality: " + each);
  all.insert(all.end(), violations_.lines().begin(), violations_.lines().end());
  return all;
}

std::vector<std::string> Checkers::unjudged() const {
  if (early_.empty()) return {};
  return {std::to_string(early_.size()) +
          (early_.size() == 1 ? " connection has" : " connections have") +
          " no recording of its other end: what it heard from there is not judged"};
}

// --- lanes --------------------------------------------------------------------------------------

void Checkers::on_lane(const Entry& entry) {
  Lane lane{.of = std::string(entry.texts[0]),
            .name = std::string(entry.texts[1]),
            .program = &*names_.emplace(entry.texts[1]).first,
            .in = lanes_.size(),
            .host = lanes_.size()};
  const std::uint64_t in = entry.numbers[0];
  if (in != 0 && in <= lanes_.size()) {
    lane.in = in - 1;
    lane.host = lanes_[in - 1].host;
  }
  lanes_.push_back(std::move(lane));
}

Device& Checkers::device_at(std::size_t lane) {
  std::unique_ptr<Device>& device = devices_[lane];
  if (device == nullptr) {
    const Device::Shared shared{
        payload_, atomics_, keys_, afterlife_, retried_, ends_, source_ == Source::kWorld};
    const Lane& own = lanes_[lane];
    const bool of_process =
        source_ == Source::kProcesses || own.of != "device" || lanes_[own.in].of == "process";
    const std::string& owner = own.of == "device" ? lanes_[own.in].name : own.name;
    device = std::make_unique<Device>(violations_, shared, own.name, owner, of_process);
  }
  return *device;
}

/// Of a host's fibers it is in the host's lane. Of a process it is the process's, or in its lane if
/// the process has several.
const Device* Checkers::device_of(const std::string& program, std::uint32_t qp) const {
  for (const auto& [lane, device] : devices_) {
    const Lane& own = lanes_[lane];
    const bool is_its =
        own.name == program || (own.of == "device" && lanes_[own.in].name == program);
    if (is_its && device->has(qp)) return device.get();
  }
  return nullptr;
}

void Checkers::on_entry(const Entry& entry) {
  if (entry.kind == EntryKind::kLane) return on_lane(entry);
  const auto& n = entry.numbers;
  keys_.set_now(entry.time);
  if (!recording::has_known_enumerators(entry)) return;  // it means nothing to any checker
  const bool has_lane = recording::kShapes[static_cast<std::size_t>(entry.kind)].starts_with('l');
  if (has_lane && n[0] >= lanes_.size()) return;
  const auto id = [&] { return IdName{lane_at(n[0]).program, n[1]}; };
  switch (entry.kind) {
    case EntryKind::kQueued:
      return on_queued(id(), entry);
    case EntryKind::kFetched:
      return on_fetched(id(), entry);
    case EntryKind::kAcknowledged:
      return ledger_.on_acknowledged(id());
    case EntryKind::kCalled:
      if (n[3] == 0) on_called(id(), entry);
      return;
    case EntryKind::kGiven:
      return on_given(id(), n[0], entry);
    case EntryKind::kOpened:
    case EntryKind::kPath:
    case EntryKind::kQueuePairState:
    case EntryKind::kPosted:
    case EntryKind::kCompleted:
    case EntryKind::kHeld:
    case EntryKind::kSharedQueue:
    case EntryKind::kKey:
    case EntryKind::kAtomic:
    case EntryKind::kAsync:
    case EntryKind::kTimers:
    case EntryKind::kLeft:
      return device_at(n[0]).on_entry(entry, running_);
    case EntryKind::kMistake:
      return violations_.add("misuse", lane_at(n[0]).name + ": " + std::string(entry.texts[0]));
    case EntryKind::kRunning:
      running_ = n[0];
      return;
    case EntryKind::kFault:
      return on_fault(entry);
    case EntryKind::kUnheard:
      keeps_all_ = true;
      return agreement_.on_message_lost(lane_at(n[0]).name, n[1] == 0 || n[1] > lanes_.size()
                                                                ? std::string()
                                                                : lane_at(n[1] - 1).name);
    case EntryKind::kDisorder:
      keeps_all_ = true;
      return payload_.on_disorder();
    case EntryKind::kNewNumbers:
      return on_new_numbers(n[0]);
    case EntryKind::kGone:
      return on_gone(n[0]);
    case EntryKind::kRest:
      return on_rest(n[0]);
    default:  // packets, output and what others have found
      return;
  }
}

// --- events -------------------------------------------------------------------------------------

void Checkers::on_queued(const IdName& id, const Entry& entry) {
  const auto& n = entry.numbers;
  const auto type = static_cast<rdma_cm_event_type>(n[3]);
  Known& known = known_[id];
  known.datagram = n[5] != 0;
  legality_.on_event(id.host(), Step::kQueued, id.id, n[2], type,
                     known.datagram ? Service::kDatagram : Service::kConnected);
  known.queued.push_back({n[3], entry.signed_number(4), std::string(entry.texts[0])});
  switch (n[3]) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      known.passive = true;
      known.listener = n[2];
      return;
    case RDMA_CM_EVENT_ESTABLISHED:
      if (known.datagram) return;
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
    default:
      return;
  }
}

void Checkers::on_fetched(const IdName& id, const Entry& entry) {
  const std::uint64_t type = entry.numbers[2];
  legality_.on_event(id.host(), Step::kFetched, id.id, 0, static_cast<rdma_cm_event_type>(type));
  Known& known = known_[id];
  const bool is_request = type == RDMA_CM_EVENT_CONNECT_REQUEST && known.listener != 0;
  ledger_.on_fetched({id.name, is_request ? known.listener : id.id});
  auto found = std::ranges::find(known.queued, type, &Queued::type);
  if (found == known.queued.end())
    found = std::ranges::find_if(
        known.queued, [type](const Queued& each) { return turns_into(each.type, type); });
  if (found == known.queued.end()) return;
  if (is_request) {
    take_route(known,
               route_of(entry.texts[0], machine_of(entry.numbers[0]), known.datagram, false));
  }
  const Queued event = std::move(*found);
  known.queued.erase_before(found + 1);
  if (!altered_ && !known.route.empty()) on_delivered(id, known, type, event);
}

void Checkers::take_route(Known& known, const std::string& route) {
  if (known.route == route) return;
  leave_route(known.route);
  known.route = route;
  if (route.empty()) return;
  Route& of = routes_[route];
  ++of.ids;
  ++of.uses;
}

// A message may still be under way when both ends have gone, such as a request that was sent again
// just before its answer arrived. So much later than that, none is.
void Checkers::leave_route(const std::string& route) {
  constexpr std::size_t kKept = 256;
  const auto left = routes_.find(route);
  if (left == routes_.end() || --left->second.ids != 0 || keeps_all_) return;
  finished_.emplace_back(route, left->second.uses);
  if (finished_.size() <= kKept) return;
  const auto oldest = routes_.find(finished_.front().first);
  if (oldest != routes_.end() && oldest->second.ids == 0 &&
      oldest->second.uses == finished_.front().second) {
    private_data_.forget(oldest->first);
    agreement_.forget(oldest->first);
    routes_.erase(oldest);
  }
  finished_.pop_front();
}

// In real time a loopback address is one machine's, which all processes may share.
std::string Checkers::machine_of(std::uint64_t lane) const {
  return source_ == Source::kProcesses ? std::string() : lanes_[lanes_[lane].host].name;
}

bool Checkers::is_observed(const std::string& route, std::uint64_t event) const {
  return source_ == Source::kWorld || private_data_.has_given(route, carrier_of(event));
}

// A process in real time reports a call once it has returned: the peer may hear of it before.
void Checkers::settle(const std::string& route, const IdName& by) {
  const auto found = early_.find(route);
  if (found == early_.end()) return;
  std::vector<Early> early = std::move(found->second);
  early_.erase(found);
  for (Early& each : early) {
    if (each.id != by) {
      on_delivered(each.id, each.known, each.type, each.event);
    } else {
      early_[route].push_back(std::move(each));
    }
  }
}

void Checkers::on_delivered(const IdName& id, const Known& known, std::uint64_t type,
                            const Queued& event) {
  if (!is_from_program(known.datagram, known.active, type, event.status)) return;
  if (!is_observed(known.route, type)) {
    Known copy = known;
    copy.queued.clear();
    early_[known.route].push_back({id, std::move(copy), type, event});
  } else if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    on_request(id, known, event);
  } else if (type == RDMA_CM_EVENT_REJECTED) {
    on_rejection(id, known, kRejectionRoom, event);
  } else if (type == RDMA_CM_EVENT_UNREACHABLE) {
    on_rejection(id, known, kSidrReplyRoom, event);
  } else {
    on_response(id, known, type, event);
  }
}

void Checkers::on_request(const IdName& id, const Known& known, const Queued& event) {
  const Parameters heard(event.parameters);
  private_data_.on_delivered(id, known.route, Carrier::kRequest,
                             known.datagram ? kSidrRequestRoom : kRequestRoom, heard.data);
  if (!known.datagram) agreement_.on_heard(id, known.route, false, heard.terms);
}

void Checkers::on_response(const IdName& id, const Known& known, std::uint64_t type,
                           const Queued& event) {
  const Parameters heard(event.parameters);
  private_data_.on_delivered(id, known.route, Carrier::kReply,
                             known.datagram ? kSidrReplyRoom : kReplyRoom, heard.data);
  if (known.datagram) return;
  agreement_.on_heard(id, known.route, true, heard.terms);
  if (type == RDMA_CM_EVENT_ESTABLISHED) compare_queue_pairs(id);
}

void Checkers::on_rejection(const IdName& id, const Known& known, std::size_t room,
                            const Queued& event) {
  private_data_.on_delivered(id, known.route, Carrier::kRejection, room,
                             Parameters(event.parameters).data);
}

void Checkers::compare_queue_pairs(const IdName& active) {
  const IdName passive = agreement_.peer_of(active);
  const std::uint32_t left = agreement_.terms_of(active).qp_num;
  const std::uint32_t right = agreement_.terms_of(passive).qp_num;
  const Device* const here = device_of(active.host(), left);
  const Device* const there = device_of(passive.host(), right);
  if (here == nullptr || there == nullptr) return;
  agreement_.on_queue_pairs(active, passive, here->census_of(left), left, there->census_of(right),
                            right);
}

// --- calls --------------------------------------------------------------------------------------

void Checkers::over(const IdName& id) {
  agreement_.on_over(id);
  afterlife_.on_dead(id);
}

void Checkers::on_silent_end(const IdName& id, const std::string& route) {
  private_data_.on_silent_end(route);
  settle(route, id);
}

void Checkers::on_called(const IdName& id, const Entry& entry) {
  const std::string_view call = entry.texts[0];
  const auto error = static_cast<int>(entry.numbers[2]);
  legality_.on_call(id.host(), id.id, call, error);
  const auto found = known_.find(id);
  if (found == known_.end()) return;
  Known& known = found->second;
  if (call == "accept" && error != 0) on_silent_end(id, known.route);
  if (error != 0) return;
  if (call == "establish") {
    known.connected = true;
    agreement_.on_up(id);
  } else if (call == "disconnect" && known.connected) {
    afterlife_.on_dead(id);
  } else if (call == "destroy") {
    over(id);
    if (known.passive && known.route.empty()) private_data_.excuse({});
    if (!known.route.empty() && !known.answered) on_silent_end(id, known.route);
    leave_route(known.route);
    known_.erase(found);
  }
}

void Checkers::on_given(const IdName& id, std::size_t lane, const Entry& entry) {
  const auto& n = entry.numbers;
  const std::string_view call = entry.texts[0];
  Known& known = known_[id];
  known.datagram = n[5] != 0;
  if (call != "reject") known.active = call == "connect";  // either side rejects
  const std::string route =
      route_of(entry.texts[1], machine_of(lane), known.datagram, known.active);
  if (known.active) take_route(known, route);
  if (call == "reject") {
    known.answered = true;
    private_data_.on_given(route, Carrier::kRejection, bytes_of(entry.texts[2]));
    return settle(route, id);
  }
  private_data_.on_given(route, known.active ? Carrier::kRequest : Carrier::kReply,
                         bytes_of(entry.texts[2]));
  const auto qp = static_cast<std::uint32_t>(n[2]);
  if (!known.datagram)
    agreement_.on_offer(id, route, known.active,
                        {qp, static_cast<std::uint8_t>(n[3]), static_cast<std::uint8_t>(n[4])});
  settle(route, id);
  if (known.datagram) return;
  const Device* const device = device_of(id.host(), qp);
  if (device != nullptr) afterlife_.on_bound(id, device->name(), qp);
}

// --- the run ------------------------------------------------------------------------------------

void Checkers::on_fault(const Entry& entry) {
  keeps_all_ = true;
  const std::string_view kind = entry.texts[1];
  if (kind == "alter") altered_ = true;
  if (kind == "reject") private_data_.excuse(bytes_of(entry.texts[2]));
  if (std::ranges::find(kPlainFaults, kind) == std::end(kPlainFaults)) agreement_.excuse();
}

void Checkers::forget(std::size_t lane) {
  const std::string& name = lanes_[lane].name;
  legality_.on_crash(name);
  ledger_.on_crash(name);
  private_data_.excuse({});  // for requests that its peers had not answered
  std::erase_if(known_, [&](const auto& entry) {
    if (entry.first.host() != name) return false;
    leave_route(entry.second.route);
    return true;
  });
  std::erase_if(devices_, [&](const auto& entry) {
    const bool its = entry.first == lane ||
                     (lanes_[entry.first].of == "device" && lanes_[entry.first].in == lane);
    if (its) entry.second->on_gone();
    return its;
  });
}

// A process says so when it opens its device.
void Checkers::on_new_numbers(std::size_t lane) {
  const std::string& name = lanes_[lane].name;
  const bool fresh =
      lanes_[lane].of == "process" && !devices_.contains(lane) &&
      std::ranges::none_of(known_, [&](const auto& entry) { return entry.first.host() == name; });
  if (fresh) return;
  agreement_.on_crash(name);
  forget(lane);
}

// Its kernel parts from its peers: they hear of it.
void Checkers::on_gone(std::size_t lane) {
  const std::string& name = lanes_[lane].name;
  for (const auto& [id, known] : known_) {
    if (id.host() == name) over(id);
  }
  forget(lane);
}

void Checkers::on_rest(std::uint64_t waiting) {
  hung_ = hung_ || waiting != 0;
  legality_.on_rest();
  agreement_.on_rest();
  for (const auto& [lane, device] : devices_) device->on_rest();
  payload_.finish();  // a thread that was late to report what it posted has done so by now
}

// The end of a process in real time ends all that it had, as the end of one on a simulated host
// does.
void Checkers::finish(bool complete) {
  if (complete && source_ == Source::kWorld) {
    legality_.on_end();
    // A program that hangs never comes to its acknowledgements.
    if (!hung_) ledger_.on_end();
  }
  if (!complete) return;  // what seems to be missing may only not have been reported
  for (const auto& [lane, device] : devices_) device->finish();
  payload_.finish();
}

}  // namespace anyrdma::check
