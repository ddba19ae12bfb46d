#include "sim/world.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <utility>

#include "base/text.h"
#include "recording/packets/packet_fields.h"
#include "sim/executor.h"
#include "sim/findings.h"
#include "sim/milestones.h"
#include "sim/mistakes.h"
#include "sim/recorder.h"
#include "sim/unasked_recordings.h"
#include "transport/soft/broadcast.h"
#include "verbs/assert.h"
#include "verbs/soft/icrc.h"

namespace anyrdma::sim {
namespace {

using verbs::soft::Packet;
using verbs::soft::PacketPtr;

/// Behind the BTH, so that the packet still looks like one to whoever reads the trace.
void flip_bit(Packet& packet, std::uint64_t chance) {
  if (packet.ip_protocol != 0) {
    const std::size_t bit = chance % (std::size_t{packet.size} * 8);
    packet.storage[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    return;
  }
  packet.keep_payload();
  roce::seal(packet);
  const std::size_t bits = (packet.size - roce::Bth::kBytes) * 8;
  const std::size_t bit = chance % bits;
  packet.storage[roce::Bth::kBytes + bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
}

bool goes_to_all(const Packet& packet, std::span<const transport::soft::Prefix> prefixes) {
  if (roce::is_multicast(packet.destination)) return true;
  // Of what RDMA sends nothing else goes to all.
  if (packet.ip_protocol == 0) return false;
  const auto to = transport::soft::Address::from_gid(packet.destination);
  return transport::soft::is_limited_broadcast(to) ||
         std::ranges::any_of(prefixes, [&to](const transport::soft::Prefix& each) {
           return transport::soft::is_broadcast(each, to);
         });
}

}  // namespace

// A MAD of the CM is one for QP1.
std::uint16_t cm_attribute(const Packet& packet) {
  constexpr std::size_t kMadAt = roce::offset_of(roce::kUdSendOnly, roce::kDeth) + 8;
  constexpr std::size_t kAttributeAt = kMadAt + 16;
  if (packet.ip_protocol != 0 || packet.size < kMadAt + verbs::soft::kMadBytes) return 0;
  const std::uint8_t* bytes = packet.storage.data();
  if (bytes[0] != roce::kUdSendOnly) return 0;
  if ((bytes[5] | bytes[6]) != 0 || bytes[7] != value(wire::kGsiQpn)) return 0;
  return static_cast<std::uint16_t>(bytes[kAttributeAt] << 8 | bytes[kAttributeAt + 1]);
}

/// A host's word that one of its addresses has moved, on its way to another.
class World::Announcement final : public Task {
 public:
  Announcement(Host& to, const Address& address, transport::soft::LinkNumber link)
      : to_(to), address_(address), link_(link) {}

 private:
  void run() override { to_.neighbours().on_moved(address_, link_); }

  Host& to_;
  Address address_;
  transport::soft::LinkNumber link_;
};

World::World(std::uint64_t seed, const WorldOptions& options)
    : seed_(seed),
      options_(options),
      scheduler_(options.stack_bytes, options.schedule, seed),
      memory_(options.memory, scheduler_.seeds()),
      asio_(std::make_unique<ExecutionContext>(scheduler_, jobs_)),
      trace_(options.tracing),
      faults_(*this) {
  verbs::listen_for_misuse(&HostObserver::on_misuse);
  if (trace_.on() || !options.record.empty() || options.recording != nullptr)
    scheduler_.set_choice_observer(this);
  if (Coverage* const coverage = coverage_of_run(); coverage != nullptr) {
    coverage->follow(&scheduler_);
    milestones_ = std::make_unique<Milestones>(*coverage);
  }
  look_for_mistakes();
  std::shared_ptr<recording::Sink> sink = options.recording;
  if (sink == nullptr && !options.record.empty())
    sink = recording::FileSink::create(options.record);
  // Who leaves the trace away is in a hurry.
  const bool may_record =
      sink == nullptr && options.record.empty() && options.tracing != Tracing::kOff;
  UnaskedRecordings* const unasked = may_record ? UnaskedRecordings::installed() : nullptr;
  if (unasked != nullptr) sink = unasked->open();
  records_ = sink != nullptr;
  if (!records_ && milestones_ == nullptr && monitor_ == nullptr) return;
  recorder_ = std::make_unique<Recorder>(scheduler_, sink);
  if (milestones_ != nullptr) recorder_->add_reader(*milestones_);
  if (monitor_ != nullptr) recorder_->add_reader(*monitor_);
  if (!records_) return;
  if (unasked != nullptr) unasked->begun(sink, *recorder_, seed);
  recorder_->about("seed", std::to_string(seed));
  if (options_.ownership == Ownership::kOn) recorder_->about("watched", ownership_checkers());
  scheduler_.fibers().set_wait_observer(recorder_.get());
}

void World::look_for_mistakes() {
  if (options_.ownership != Ownership::kOn) return;
  mistakes_ = std::make_unique<Mistakes>(options_.allow, options_.deny);
  if (monitor_ == nullptr) return;
  mistakes_->listen([this](const std::string& line, const std::string& /*stacks*/) {
    monitor_->on_mistake(line);
  });
}

World::~World() {
  if (Coverage* const coverage = coverage_of_run(); coverage != nullptr) coverage->follow(nullptr);
  if (recorder_ != nullptr) recorder_->close();
  scheduler_.fibers().close();
  if (recorder_ != nullptr) recorder_->count_left();
  if (monitor_ != nullptr) monitor_->on_end(*this);
  if (records_) end_recording();
  asio_.reset();
  jobs_.clear();
  for (const auto& flight : flights_) scheduler_.cancel(*flight);
  for (const auto& announcement : announcements_) scheduler_.cancel(*announcement);
}

// --- what there is ------------------------------------------------------------------------------

Host& World::add_host(std::string_view name, std::initializer_list<std::string_view> addresses) {
  InterfaceOptions interface;
  interface.addresses.assign(addresses.begin(), addresses.end());
  return add_host(name, HostOptions{.interfaces = {interface}});
}

Host& World::add_host(std::string_view name, const HostOptions& options) {
  CM_ASSERT(find_host(name) == nullptr);
  const HostIndex index = trace_.add_host(name);
  if (recorder_ != nullptr) recorder_->add_host(index, name);
  return adopt(std::unique_ptr<Host>(new Host(*this, std::string(name), index, options)));
}

bool World::claim(const Address& address, Host& host, std::size_t interface) {
  found_ = {};
  return owners_.try_emplace(address.ip, Owner{&host, interface}).second;
}

void World::disown(const Address& address) {
  found_ = {};
  owners_.erase(address.ip);
}

Host& World::adopt(std::unique_ptr<Host> host) {
  for (std::size_t i = 0; i < host->interfaces().size(); ++i) {
    for (const Prefix& prefix : host->interfaces()[i].prefixes) {
      const bool fresh = claim(prefix.address, *host, i);
      CM_ASSERT(fresh);  // else two hosts have one address
    }
    const auto& prefixes = host->interfaces()[i].prefixes;
    lids_.add(prefixes.empty() ? ibv_gid{} : prefixes.front().address.gid());
  }
  hosts_.push_back(std::move(host));
  return *hosts_.back();
}

Host* World::host_of(const Address& address) {
  const Owner* const owner = owner_of(address.ip);
  return owner == nullptr ? nullptr : owner->host;
}

Host* World::find_host(std::string_view name) const {
  const auto found = std::find_if(hosts_.begin(), hosts_.end(),
                                  [&](const auto& host) { return host->name() == name; });
  return found == hosts_.end() ? nullptr : found->get();
}

void World::set_link(Host& a, Host& b, const LinkOptions& options) {
  set_path(a, b, options);
  set_path(b, a, options);
}

void World::set_path(Host& from, Host& to, const LinkOptions& options) {
  link_between(from, to).set(options);
}

const LinkOptions& World::path(Host& from, Host& to) {
  return link_between(from, to).options();
}

RandomStream& World::random(std::string_view name) {
  for (const NamedStream& each : streams_) {
    if (each.name == name) return *each.stream;
  }
  // Apart from the simulator's own streams, whatever the name.
  auto stream = std::make_unique<RandomStream>(seeds(), "user " + std::string(name));
  streams_.push_back({std::string(name), std::move(stream)});
  return *streams_.back().stream;
}

// --- time ---------------------------------------------------------------------------------------

Result<void> World::run() {
  const Scheduler::Running running(scheduler_);
  while (scheduler_.step()) {
    if (mistakes_ != nullptr && mistakes_->is_stuck(now())) break;
  }
  if (mistakes_ != nullptr) mistakes_->on_rest();
  rest();
  for (const auto& fiber : scheduler_.fibers().all()) {
    const bool missed = fiber->ending() == Ending::kMustEnd && !fiber->abandoned();
    if (!missed) continue;
    if (records_) recorder_->hang("no event is pending");
    return verbs::errno_code(EDEADLK);
  }
  return {};
}

void World::run_for(Duration duration) {
  const Scheduler::Running running(scheduler_);
  const Instant end = now() + duration;
  while (scheduler_.step(end)) continue;
  scheduler_.skip_to(end);
}

std::string World::stuck_report() const {
  std::string report;
  for (const auto& fiber : scheduler_.fibers().all()) {
    if (fiber->abandoned()) continue;
    if (fiber->held()) report += fiber->name() + " cannot run: its host is paused\n";
    if (fiber->stopped()) report += fiber->name() + " cannot run: it is paused\n";
    if (!fiber->parked()) continue;
    report += fiber->name() + " waits for " + fiber->purpose() + " since " +
              seconds_text(fiber->since().time_since_epoch()) + " s\n" + fiber->details();
  }
  return report + scheduler_.refusal();
}

Executor World::executor() {
  return Executor(*asio_);
}

// --- packets ------------------------------------------------------------------------------------

std::vector<std::uint8_t> World::capture() const {
  CM_ASSERT(options_.capture);
  return capture_.file();
}

const World::Owner* World::look_up(const AddressKey& address) {
  const auto found = owners_.find(address);
  if (found == owners_.end()) return nullptr;
  found_[address.back() % found_.size()] = {address, &found->second};
  return &found->second;
}

Link& World::link_between(Host& from, Host& to) {
  const auto index = static_cast<std::size_t>(to.index());
  if (from.links_.size() <= index) from.links_.resize(index + 1);
  std::unique_ptr<Link>& link = from.links_[index];
  if (link == nullptr) link = std::make_unique<Link>(*this, from, to, options_.link);
  return *link;
}

void World::rest() {
  if (recorder_ == nullptr) return;
  const auto& fibers = scheduler_.fibers().all();
  recorder_->rest(static_cast<std::uint64_t>(std::ranges::count(
      fibers, Ending::kMustEnd, [](const auto& each) { return each->ending(); })));
}

void World::lose_message(const Host& at, const Host* peer) {
  if (recorder_ != nullptr)
    recorder_->unheard(at.index(), peer == nullptr ? kNoHost : peer->index());
}

void World::drop(const Host& at, const Host* peer, DropCause cause, const Packet& packet) {
  if (recorder_ != nullptr && cm_attribute(packet) != 0) lose_message(at, peer);
  if (records_) recorder_->lost(packet.mark, to_string(cause), at.index());
  if (!trace_.on()) return;
  recording::FieldWriter fields = recording::fields_of(packet);
  trace_.drop(now(), at.index(), peer == nullptr ? kNoHost : peer->index(), cause, fields);
}

void World::transmit(Host& from, std::size_t interface, PacketPtr&& packet) {
  ++packets_;
  const bool to_group = goes_to_all(*packet, from.interfaces()[interface].prefixes);
  const Owner* to = to_group ? nullptr : owner_of(key_of(packet->destination.raw));
  if (trace_.on() || records_) tell_sent(from, to ? to->host->index() : kNoHost, *packet);
  if (milestones_ != nullptr)
    milestones_->on_packet(from.name(), to ? to->host->name() : "", *packet);
  if (options_.capture) {
    packet->keep_payload();
    const roce::Mac target = to_group ? roce::mac_from(packet->destination)
                             : to     ? to->host->interfaces()[to->interface].mac
                                      : roce::Mac{};
    capture_.add(now(), *packet, from.interfaces()[interface].mac, target);
  }
  const bool stays = to != nullptr && to->host == &from;  // a machine always reaches itself
  if (from.interfaces()[interface].cut && !stays) {
    return drop_at_rail(from, interface, to == nullptr ? nullptr : to->host, *packet);
  }
  if (to_group) return flood({&from, interface}, *packet);
  if (to == nullptr) return drop(from, nullptr, DropCause::kNoSuchAddress, *packet);
  carry_or_not({&from, interface}, *to, std::move(packet));
}

void World::drop_at_rail(Host& at, std::size_t interface, const Host* peer, const Packet& packet) {
  faults_.on_dead_rail(at, at.interfaces()[interface].name);
  drop(at, peer, DropCause::kLinkDown, packet);
}

void World::carry(const Owner& sender, const Owner& to, PacketPtr&& packet, Duration late) {
  Host& from = *sender.host;
  const Interface& at = to.host->interfaces()[to.interface];
  if (at.cut && to.host != &from) return drop_at_rail(*to.host, to.interface, &from, *packet);
  Link& link = link_between(from, *to.host);
  if (link.options().down) {
    faults_.on_dead_path(from, *to.host);
    return drop(from, to.host, DropCause::kLinkDown, *packet);
  }
  if (to.host != &from) late += from.interfaces()[sender.interface].delay + at.delay;
  if (!link.carry(to.interface, packet, late)) drop(from, to.host, DropCause::kLoss, *packet);
}

void World::carry_or_not(const Owner& sender, const Owner& to, PacketPtr&& packet) {
  if (!faults_.watches_packets()) return carry(sender, to, std::move(packet));
  Host& from = *sender.host;
  const bool passes = !link_between(from, *to.host).options().down;
  const Mishap mishap = faults_.on_packet(from.interfaces().at(sender.interface),
                                          to.host->interfaces().at(to.interface), *packet, passes);
  if (mishap.lost) return drop(from, to.host, DropCause::kFault, *packet);
  if (mishap.corrupted) flip_bit(*packet, mishap.chance);
  if (mishap.overtaken || mishap.copies != 0 || mishap.late != Duration::zero()) note_disorder();
  if (mishap.overtaken && link_between(from, *to.host).hold_back(to.interface, packet)) return;
  for (std::uint32_t i = 0; i < mishap.copies; ++i) {
    carry(sender, to, copy_of(*packet, *to.host), mishap.late);
  }
  carry(sender, to, std::move(packet), mishap.late);
}

void World::note_disorder() {
  if (recorder_ != nullptr) recorder_->disorder();
}

void World::watch_calls() {
  for (const auto& host : hosts_) host->observer_.watch_calls();
}

void World::watch_gate() {
  for (const auto& host : hosts_) host->observer_.watch_gate();
}

void World::watch_events() {
  for (const auto& host : hosts_) host->observer_.watch_events();
}

// As a switch without IGMP snooping does: every device gets a copy, the sender's own too, in the
// order in which they were added; each copy has the luck of its own link, and counts for the faults
// of its own way.
void World::flood(const Owner& from, const Packet& packet) {
  for (const auto& host : hosts_) {
    for (std::size_t i = 0; i < host->interfaces().size(); ++i) {
      const bool own = host.get() == from.host;
      if (!host->interfaces()[i].nic->hears_groups(own)) continue;
      carry_or_not(from, {host.get(), i}, copy_of(packet, *host));
    }
  }
}

PacketPtr World::copy_of(const Packet& packet, const Host& to) {
  PacketPtr copy = pool_.copy_of(packet);
  if (records_) recorder_->copied(packet, *copy, to.index());
  return copy;
}

void World::tell_sent(const Host& from, HostIndex to, Packet& packet) {
  const recording::FieldWriter fields = recording::fields_of(packet);
  trace_.send(now(), from.index(), to, fields);
  if (records_) recorder_->sent(from.index(), to, packet, fields);
}

void World::on_choice(const Deviation& choice, const Fiber* fiber) {
  trace_.choice(now(), choice.point, choice.choice);
  if (recorder_ != nullptr) recorder_->chosen(choice, fiber);
}

void World::end_recording() {
  if (monitor_ != nullptr) {
    for (const std::string& each : monitor_->violations()) recorder_->finding(each);
  }
  if (UnaskedRecordings* const unasked = UnaskedRecordings::installed(); unasked != nullptr)
    unasked->ending(*recorder_);
  for (const FaultStatus& status : faults_.status()) recorder_->about("fault", status.to_string());
  recorder_->end(trace_.hash());
  scheduler_.fibers().set_wait_observer(nullptr);
}

Flight& World::take_flight() {
  if (spare_flights_.empty()) {
    flights_.push_back(std::make_unique<Flight>(*this));
    return *flights_.back();
  }
  Flight& flight = *spare_flights_.back();
  spare_flights_.pop_back();
  return flight;
}

void World::land(Flight& flight) {
  PacketPtr packet = std::move(flight.packet_);
  Host& to = *flight.to_;
  const Host& from = *flight.from_;
  const std::size_t interface = flight.interface_;
  spare_flights_.push_back(&flight);
  if (to.receive(interface, from, std::move(packet))) to.leave();
}

// --- news ---------------------------------------------------------------------------------------

void World::announce(Host& from, const Address& address, transport::soft::LinkNumber link) {
  for (const auto& to : hosts_) {
    const LinkOptions& way = link_between(from, *to).options();
    if (to.get() == &from || way.down) continue;
    announcements_.push_back(std::make_unique<Announcement>(*to, address, link));
    scheduler_.at(*announcements_.back(), now() + way.latency);
  }
}

}  // namespace anyrdma::sim
