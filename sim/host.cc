#include "sim/host.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "recording/packets/ip_packet.h"
#include "recording/packets/packet_fields.h"
#include "sim/boot.h"
#include "sim/host_tasks.h"
#include "sim/milestones.h"
#include "sim/process.h"
#include "sim/recorder.h"
#include "sim/schedule/semaphore.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
const std::string kDeviceStem = "anyrdma";

using transport::soft::DeviceChange;
using verbs::soft::Hca;
using verbs::soft::HcaConfig;

/// EUI-64 of a MAC, as Linux derives a RoCE device's GUID.
wire::Guid guid_of(const roce::Mac& mac) {
  const std::uint8_t bytes[] = {
      static_cast<std::uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  std::uint64_t guid = 0;
  for (const std::uint8_t byte : bytes) guid = guid << 8 | byte;
  return wire::Guid{guid};
}

HcaConfig config_of(const InterfaceOptions& options, std::size_t index, const roce::Mac& mac) {
  const HcaConfig defaults;
  HcaConfig config = options.device.value_or(defaults);
  if (config.name == defaults.name) config.name = kDeviceStem + std::to_string(index);
  if (config.node_guid == defaults.node_guid) config.node_guid = guid_of(mac);
  return config;
}

std::optional<DropCause> cause_of(const Hca::Counters& before, const Hca::Counters& after) {
  if (after.malformed != before.malformed) return DropCause::kMalformed;
  if (after.unknown_qp != before.unknown_qp) return DropCause::kUnknownQp;
  if (after.bad_icrc != before.bad_icrc) return DropCause::kBadIcrc;
  if (after.wrong_state != before.wrong_state) return DropCause::kWrongState;
  if (after.bad_queue_key != before.bad_queue_key) return DropCause::kBadQueueKey;
  if (after.no_receive != before.no_receive) return DropCause::kNoReceive;
  if (after.unknown_group != before.unknown_group) return DropCause::kUnknownGroup;
  return std::nullopt;
}

}  // namespace

Host::Host(World& world, std::string name, HostIndex index, const HostOptions& options)
    : world_(world),
      scheduler_(world.scheduler()),
      name_(std::move(name)),
      index_(index),
      random_(world.seeds(), "host " + name_),
      port_options_(options.ports),
      deadline_(std::make_unique<Deadline>(*this)) {
  boot();
  interfaces_.reserve(options.interfaces.size());
  for (const InterfaceOptions& interface : options.interfaces) add_interface(interface);
  for (const std::string& text : options.unreachable) {
    unreachable_.push_back(Prefix::parse(text).value());
  }
}

Host::~Host() {
  transport_ = nullptr;  // their ends enter and leave the critical section
  boot_.reset();
  past_.clear();
  world_.scheduler().cancel(*deadline_);
  for (const auto& question : questions_) world_.scheduler().cancel(*question);
}

roce::Mac Host::make_mac(std::size_t interface) const {
  const auto host = static_cast<std::size_t>(index_) + 1;
  return {2,
          0,
          0,
          static_cast<std::uint8_t>(host >> 8),
          static_cast<std::uint8_t>(host),
          static_cast<std::uint8_t>(interface)};
}

void Host::add_interface(const InterfaceOptions& options) {
  const std::size_t index = interfaces_.size();
  Interface& interface = interfaces_.emplace_back();
  interface.name = options.name.empty() ? "eth" + std::to_string(index) : options.name;
  interface.mac = make_mac(index);
  interface.bond = options.bond;
  for (const std::string& text : options.addresses) {
    Address& address = interface.prefixes.emplace_back(Prefix::parse(text).value()).address;
    if (address.is_link_local()) address.scope = static_cast<std::uint32_t>(number_of(index));
  }
  if (options.rdma) add_device(interface, options);
}

void Host::add_device(Interface& interface, const InterfaceOptions& options) {
  const auto index = static_cast<std::size_t>(&interface - interfaces_.data());
  plug(interface, config_of(options, index, interface.mac));
}

void Host::plug(Interface& interface, const HcaConfig& config) {
  const auto index = static_cast<std::size_t>(&interface - interfaces_.data());
  if (interface.random == nullptr) {
    interface.random =
        std::make_unique<RandomStream>(world_.seeds(), "device " + name_ + "/" + config.name);
  }
  interface.hca = Hca::create(*this, *interface.random, world_.pool_, config);
  interface.hca->count_with(made_);
  interface.hca->lend_payloads();
  MemoryChoices& memory = world_.memory();
  if (!memory.is_strict()) interface.hca->set_memory_model(memory.profile(), memory);
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    interface.hca->set_observer(stream->watch(index_, config.name));
  if (world_.mistakes() != nullptr) interface.hca->set_ownership_sink(this);
  std::uint32_t gid_index = 0;
  for (const Prefix& prefix : interface.prefixes) {
    interface.hca->set_gid(gid_index++, prefix.address.gid());
  }
  interface.present = true;
  const Result<void> added = transport_->add_device(*interface.hca, number_of(index));
  CM_ASSERT(added.has_value());
  if (transport_->call_gate() != nullptr) interface.hca->set_call_gate(this);
}

verbs::soft::Hca& Host::hca(std::size_t interface) {
  CM_ASSERT(interface < interfaces_.size());
  CM_ASSERT(interfaces_[interface].hca != nullptr);
  return *interfaces_[interface].hca;
}

Address Host::address(std::uint16_t port, std::size_t interface) const {
  CM_ASSERT(interface < interfaces_.size());
  CM_ASSERT(!interfaces_[interface].prefixes.empty());
  Address address = interfaces_[interface].prefixes.front().address;
  address.port = port;
  return address;
}

const std::string& Host::interface_name(std::size_t interface) const {
  CM_ASSERT(interface < interfaces_.size());
  return interfaces_[interface].name;
}

const std::vector<Prefix>& Host::prefixes(std::size_t interface) const {
  CM_ASSERT(interface < interfaces_.size());
  return interfaces_[interface].prefixes;
}

const roce::Mac& Host::mac(std::size_t interface) const {
  CM_ASSERT(interface < interfaces_.size());
  return interfaces_[interface].mac;
}

// --- programs -----------------------------------------------------------------------------------

void Host::spawn(std::string_view name, std::function<void()> body, Ending ending) {
  if (power_ == Power::kOff) return;
  const Fiber* const maker = Fibers::running();
  const bool is_thread = maker != nullptr && maker->host() == this;
  start_fiber(name, std::move(body), ending, is_thread ? maker->process() : nullptr);
}

void Host::start_fiber(std::string_view name, std::function<void()> body, Ending ending,
                       std::shared_ptr<Process> process) {
  Fibers& fibers = world_.scheduler().fibers();
  fibers.spawn(name_ + "/" + std::string(name), ending, std::move(body), this, std::move(process));
  if (power_ == Power::kPaused) fibers.hold(*this);
}

void Host::spawn_process(std::string_view name, std::function<void()> body, Ending ending,
                         bool loud) {
  if (power_ == Power::kOff) return;
  auto process = std::make_shared<Process>(name_ + "/" + std::string(name), *transport_, loud);
  gate_is_open_ = true;
  // A device without contexts left shows its programs the one that all others share.
  (void)transport_->begin_process(process.get()).has_value();
  gate_is_open_ = false;
  spawned_.push_back({std::string(name), process});
  start_fiber(name, std::move(body), ending, std::move(process));
}

void Host::announce_program(std::string_view name) {
  announced_.emplace_back(name);
}

std::uint32_t Host::programs_named(std::string_view name) const {
  const auto count = std::ranges::count(announced_, name) +
                     std::ranges::count(spawned_, name, [](const Spawned& each) {
                       return std::string_view(each.name);
                     });
  return static_cast<std::uint32_t>(count);
}

const void* Host::process() {
  const Fiber* const fiber = Fibers::running();
  return fiber == nullptr || fiber->host() != this ? nullptr : fiber->process().get();
}

void Host::on_start(std::string_view name, std::function<void()> body, Ending ending) {
  spawn(name, body, ending);
  startups_.push_back({std::string(name), std::move(body), ending});
}

Host* Host::current() {
  const Fiber* fiber = Fibers::running();
  return fiber == nullptr ? nullptr : fiber->host();
}

bool Host::sleep(Duration duration) {
  return world_.scheduler().idle_until(world_time(now() + duration));
}

void Host::note(std::string_view text) {
  world_.trace().note(world_.now(), index_, text);
  if (world_.recorder() != nullptr) world_.recorder()->note(index_, text);
}

void Host::note_output(std::string_view program, bool error, std::string_view line) {
  const std::string_view name = program.substr(program.find('/') + 1);
  world_.trace().note(world_.now(), index_,
                      std::string(name) + (error ? " (stderr): " : ": ") + std::string(line));
  if (world_.recorder() != nullptr) world_.recorder()->output(program, error, line);
}

void Host::note_end(std::string_view program, std::string_view how) {
  const std::string_view name = program.substr(program.find('/') + 1);
  world_.trace().note(world_.now(), index_, std::string(name) + " " + std::string(how));
  if (world_.recorder() != nullptr) world_.recorder()->ended(program, how);
}

// --- programs outside of the world --------------------------------------------------------------

void Host::set_uplink(std::size_t interface, Uplink* uplink) {
  CM_ASSERT(interface < interfaces_.size());
  CM_ASSERT(interfaces_[interface].hca == nullptr);
  interfaces_[interface].uplink = uplink;
}

bool Host::has_processes() const {
  return std::any_of(interfaces_.begin(), interfaces_.end(),
                     [](const Interface& each) { return each.uplink != nullptr; });
}

void Host::send_from(std::size_t interface, const verbs::soft::Packet& packet) {
  CM_ASSERT(interface < interfaces_.size());
  if (power_ == Power::kOff) return;
  // A device of our own looks at its port itself.
  if (packet.ip_protocol != 0 && port_is_down(interfaces_[interface]))
    return world_.drop(*this, nullptr, DropCause::kWrongState, packet);
  world_.transmit(*this, interface, world_.pool_.copy_of(packet));
}

// --- faults -------------------------------------------------------------------------------------

Host::Interface* Host::find_device(std::string_view device) {
  const auto found = std::find_if(interfaces_.begin(), interfaces_.end(), [&](const auto& each) {
    return each.present && each.hca->config().name == device;
  });
  return found == interfaces_.end() ? nullptr : &*found;
}

Host::Interface* Host::find_outside(std::string_view device) {
  const auto found = std::find_if(interfaces_.begin(), interfaces_.end(), [&](const auto& each) {
    return each.uplink != nullptr &&
           device == kDeviceStem + std::to_string(&each - interfaces_.data());
  });
  return found == interfaces_.end() ? nullptr : &*found;
}

const Host::Interface* Host::find_outside(std::string_view device) const {
  return const_cast<Host*>(this)->find_outside(device);
}

bool Host::tell_outside(const transport::soft::DeviceChange& change) {
  const auto found = std::find_if(interfaces_.begin(), interfaces_.end(), [](const auto& each) {
    return each.uplink != nullptr && !each.unplugged;
  });
  if (found == interfaces_.end()) return false;
  found->uplink->on_change(change);
  return true;
}

bool Host::has_device(std::string_view device) const {
  if (const Interface* const outside = find_outside(device)) return !outside->unplugged;
  return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const Interface& each) {
    return each.present && each.hca->config().name == device;
  });
}

Host::Interface* Host::find_interface(std::string_view name) {
  const auto found = std::find_if(interfaces_.begin(), interfaces_.end(),
                                  [&](const Interface& each) { return each.name == name; });
  return found == interfaces_.end() ? nullptr : &*found;
}

bool Host::has_interface(std::string_view interface) const {
  return std::any_of(interfaces_.begin(), interfaces_.end(),
                     [&](const Interface& each) { return each.name == interface; });
}

Result<void> Host::remove_device(std::string_view device) {
  if (Interface* const outside = find_outside(device)) {
    if (std::exchange(outside->unplugged, true)) return verbs::errno_code(ENODEV);
    outside->uplink->on_change({.kind = DeviceChange::Kind::kRemoved});
    return {};
  }
  Interface* interface = find_device(device);
  if (interface == nullptr) return verbs::errno_code(ENODEV);
  verbs::CriticalSection section(*this);
  transport_->remove_device(*interface->hca);
  send_packets(*interface, static_cast<std::size_t>(interface - interfaces_.data()));
  interface->hca->remove();
  interface->present = false;
  deadlines_moved() = true;
  return {};
}

std::vector<std::string> Host::devices() const {
  std::vector<std::string> names;
  for (const Interface& each : interfaces_) {
    if (each.present) names.push_back(each.hca->config().name);
  }
  return names;
}

bool Host::knows_device(std::string_view device) const {
  if (find_outside(device) != nullptr) return true;
  return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const Interface& each) {
    return each.hca != nullptr && each.hca->config().name == device;
  });
}

Result<void> Host::return_device(std::string_view device, bool new_guid) {
  if (has_device(device)) return verbs::errno_code(EEXIST);
  const auto found = std::find_if(interfaces_.begin(), interfaces_.end(), [&](const auto& each) {
    return each.hca != nullptr && each.hca->config().name == device;
  });
  if (found == interfaces_.end()) return verbs::errno_code(ENODEV);
  HcaConfig config = found->hca->config();
  if (new_guid) config.node_guid = wire::Guid{value(config.node_guid) + 1};
  removed_.push_back(std::move(found->hca));
  plug(*found, config);
  return {};
}

Result<void> Host::set_port(std::string_view device, bool active) {
  if (Interface* const outside = find_outside(device)) {
    if (outside->unplugged) return verbs::errno_code(ENODEV);
    if (std::exchange(outside->port_down, !active) == !active) return verbs::errno_code(EALREADY);
    outside->uplink->on_change(
        {.kind = active ? DeviceChange::Kind::kPortUp : DeviceChange::Kind::kPortDown});
    return {};
  }
  Interface* interface = find_device(device);
  if (interface == nullptr) return verbs::errno_code(ENODEV);
  const ibv_port_state state = active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  verbs::CriticalSection section(*this);
  if (interface->hca->port_state() == state) return verbs::errno_code(EALREADY);
  interface->hca->set_port_state(state);
  return {};
}

Result<void> Host::raise_event(std::string_view device, ibv_event_type event) {
  if (Interface* const outside = find_outside(device)) {
    if (outside->unplugged) return verbs::errno_code(ENODEV);
    outside->uplink->on_change({.kind = DeviceChange::Kind::kEvent, .event = event});
    return {};
  }
  Interface* interface = find_device(device);
  if (interface == nullptr) return verbs::errno_code(ENODEV);
  verbs::CriticalSection section(*this);
  interface->hca->raise_event(event);
  return {};
}

Result<void> Host::plug_device(std::string_view name) {
  Interface* interface = find_interface(name);
  if (interface == nullptr) return verbs::errno_code(ENODEV);
  if (interface->hca != nullptr || interface->uplink != nullptr) return verbs::errno_code(EEXIST);
  add_device(*interface, {});
  return {};
}

// --- Runtime ------------------------------------------------------------------------------------

Instant Host::now() {
  if (drift_ppm_ == 0 && clock_ == clock_set_at_) return world_.now();
  const Duration passed = world_.now() - clock_set_at_;
  return clock_ + passed + passed / kMillion * drift_ppm_ +
         passed % kMillion * drift_ppm_ / kMillion;
}

// Never early, or a timer would find that it is not due.
Instant Host::world_time(Instant local) const {
  if (drift_ppm_ == 0) return local + (clock_set_at_ - clock_);
  const Duration wait = local - clock_;
  const std::int64_t rate = kMillion + drift_ppm_;
  return clock_set_at_ + wait / rate * kMillion + wait % rate * kMillion / rate + Duration(1);
}

bool Host::drift(std::int32_t ppm) {
  clock_ = now();
  clock_set_at_ = world_.now();
  deadlines_moved() = true;
  world_.scheduler().settle_later(*this);
  return std::exchange(drift_ppm_, ppm) != ppm;
}

Result<std::unique_ptr<verbs::Semaphore>> Host::make_semaphore() {
  return std::unique_ptr<verbs::Semaphore>(std::make_unique<Semaphore>(world_.scheduler()));
}

void Host::leave() {
  Scheduler& scheduler = world_.scheduler();
  scheduler.concern(*this);
  scheduler.settle_later(*this);
  if (driver_called()) carry_out();
}

void Host::carry_out() {
  if (transport_ == nullptr || !running()) return;
  if (!called_for_packets_only() || transport_->has_waiting()) transport_->drain(now());
  for (std::size_t i = 0; i < interfaces_.size(); ++i) send_packets(interfaces_[i], i);
  answer_call();
}

void Host::progress() {
  leave();  // what the poller itself did before must get on its way
  world_.scheduler().poll();
}

verbs::Runtime::Mark Host::mark() {
  const Fiber* fiber = world_.scheduler().fibers().current();
  return {.when = world_.now(), .who = fiber == nullptr ? 0 : fiber->number()};
}

std::string Host::describe(const Mark& mark) {
  std::string text = "at " + seconds_text(mark.when.time_since_epoch()) + " s ";
  if (mark.who == 0) return text + "outside of all fibers";
  for (const auto& fiber : world_.scheduler().fibers().all()) {
    if (fiber->number() == mark.who) return text + "by " + fiber->name();
  }
  return text + "by a fiber that has ended";
}

bool Host::run_later(std::unique_ptr<verbs::Job>& job) {
  world_.jobs_.push(std::move(job));
  return true;
}

// --- packets and timers -------------------------------------------------------------------------

void Host::send_packets(Interface& interface, std::size_t index) {
  if (!interface.present) return;
  while (verbs::soft::PacketPtr packet = interface.hca->next_packet()) {
    world_.transmit(*this, index, std::move(packet));
  }
}

bool Host::receive(std::size_t index, const Host& from, verbs::soft::PacketPtr&& packet) {
  if (!running()) {
    receive_later(index, from, std::move(packet));
    return false;
  }
  Interface& interface = interfaces_[index];
  if (packet->ip_protocol != 0) {
    take_ip(interface, from, *packet);
    return false;
  }
  if (interface.uplink != nullptr) {
    packet->keep_payload();
    interface.uplink->on_packet(*packet);
    return false;
  }
  if (!interface.present) {
    world_.drop(*this, &from, DropCause::kNoDevice, *packet);
    return false;
  }
  take_in(interface, from, std::move(packet));
  return true;
}

bool Host::port_is_down(const Interface& interface) {
  if (interface.uplink != nullptr) return interface.port_down;
  return interface.present && interface.hca->port_state() != IBV_PORT_ACTIVE;
}

void Host::take_ip(const Interface& interface, const Host& from,
                   const verbs::soft::Packet& packet) {
  if (port_is_down(interface)) return world_.drop(*this, &from, DropCause::kWrongState, packet);
  const bool is_whole = !recording::fragment_of(packet);
  if (is_whole && !recording::checksum_is_right(packet.source, packet.destination,
                                                packet.ip_protocol, packet.payload()))
    return world_.drop(*this, &from, DropCause::kMalformed, packet);
  if (world_.ip_receiver_ != nullptr) world_.ip_receiver_->on_ip(*this, packet);
}

void Host::take_in(Interface& interface, const Host& from, verbs::soft::PacketPtr&& packet) {
  const bool tracing = world_.trace().on();
  if (!tracing && world_.stream() == nullptr) {
    return interface.hca->on_packet(now(), std::move(packet));
  }
  recording::FieldWriter fields;
  if (tracing) fields = recording::fields_of(*packet);
  const bool message = cm_attribute(*packet) != 0;
  const Hca::Counters before = interface.hca->counters();
  const std::uint64_t mark = packet->mark;
  interface.hca->on_packet(now(), std::move(packet));
  const std::optional<DropCause> cause = cause_of(before, interface.hca->counters());
  if (!cause) return;
  if (message) world_.lose_message(*this, &from);
  if (world_.recorder() != nullptr) world_.recorder()->lost(mark, to_string(*cause), index_);
  world_.trace().drop(world_.now(), index_, from.index_, *cause, fields);
}

void Host::on_deadline() {
  verbs::CriticalSection section(*this);
  deadlines_moved() = true;
  transport_->on_timer(now());
  for (Interface& interface : interfaces_) {
    if (interface.present) interface.hca->on_timer(now());
  }
}

void Host::settle() {
  if (!running()) return world_.scheduler().cancel(*deadline_);
  if (!std::exchange(deadlines_moved(), false)) return;
  std::optional<Instant> next = transport_->next_deadline();
  for (Interface& interface : interfaces_) {
    if (interface.present) next = verbs::earlier(next, interface.hca->next_deadline());
  }
  Scheduler& scheduler = world_.scheduler();
  if (!next) return scheduler.cancel(*deadline_);
  const Instant due = world_time(*next);
  if (deadline_->armed() && scheduler.time_of(*deadline_) == due) return;
  scheduler.at(*deadline_, due);
}

}  // namespace anyrdma::sim
