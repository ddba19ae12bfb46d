#include "sim/host.h"

#include <utility>

#include "base/text.h"
#include "recording/packets/ip_packet.h"
#include "sim/boot.h"
#include "sim/process.h"
#include "sim/recorder.h"
#include "sim/schedule/semaphore.h"
#include "sim/world.h"
#include "verbs/assert.h"

namespace anyrdma::sim {

using verbs::soft::Hca;

/// The task that runs when the earliest timer of the host's transport and devices expires.
class Host::Deadline final : public Task {
 public:
  explicit Deadline(Host& host) : host_(host) {}

 private:
  void run() override { host_.on_deadline(); }
  [[nodiscard]] std::string what() override {
    return "a timer of the devices or of the CM on " + host_.name() + " expires";
  }

  Host& host_;
};

Host::Host(World& world, std::string name, HostIndex index, const HostOptions& options)
    : world_(world),
      scheduler_(world.scheduler()),
      name_(std::move(name)),
      index_(index),
      description_(options.description),
      random_(world.seeds(), "host " + name_),
      port_options_(options.ports),
      deadline_(std::make_unique<Deadline>(*this)) {
  CM_ASSERT(problem_with(description_).empty());
  boot();
  interfaces_.add(options);
}

Host::~Host() {
  transport_ = nullptr;  // their ends enter and leave the critical section
  boot_.reset();
  past_.clear();
  cancel_deadline();
}

verbs::soft::Hca& Host::hca(std::size_t interface) const {
  verbs::soft::Hca* const device = interfaces_[interface].nic->device();
  CM_ASSERT(device != nullptr);
  return *device;
}

Address Host::address(std::uint16_t port, std::size_t interface) const {
  const Interface& at = interfaces_[interface];
  CM_ASSERT(!at.prefixes.empty());
  Address address = at.prefixes.front().address;
  address.port = port;
  return address;
}

const transport::soft::LocalPortTable& Host::ports() const {
  return boot_->ports;
}

void Host::keep(std::shared_ptr<void> object) {
  boot_->kept.push_back(std::move(object));
}

// --- power --------------------------------------------------------------------------------------

void Host::boot() {
  boot_ = std::make_unique<Boot>(*this);
  transport_ = boot_->transport.get();
  observer_.watch_transport();
}

void Host::start_anew() {
  cancel_deadline();
  observer_.set_slowness({});
  neighbours_.drop_questions();
  observer_.leave_transport();
  boot_->over = true;
  past_.push_back(std::move(boot_));
  if (world_.stream() != nullptr) world_.stream()->crashed(index_);
  boot();
  deadlines_moved() = true;
  for (const Interface& each : interfaces_) each.nic->start_anew();
}

// --- programs -----------------------------------------------------------------------------------

void Host::spawn(std::string_view name, std::function<void()> body, Ending ending) {
  if (power_.off()) return;
  const Fiber* const maker = Fibers::running();
  const bool is_thread = maker != nullptr && maker->host() == this;
  start_fiber(name, std::move(body), ending, is_thread ? maker->process() : nullptr);
}

void Host::start_fiber(std::string_view name, std::function<void()> body, Ending ending,
                       std::shared_ptr<Process> process) {
  Fibers& fibers = world_.scheduler().fibers();
  fibers.spawn(name_ + "/" + std::string(name), ending, std::move(body), this, std::move(process));
  if (power_.paused()) fibers.hold(*this);
}

void Host::spawn_process(std::string_view name, std::function<void()> body, Ending ending,
                         bool loud) {
  if (power_.off()) return;
  auto process = std::make_shared<Process>(name_ + "/" + std::string(name), *transport_, loud);
  observer_.open_gate(true);
  // A device without contexts left shows its programs the one that all others share.
  (void)transport_->begin_process(process.get()).has_value();
  observer_.open_gate(false);
  processes_.add_spawned(name, process);
  start_fiber(name, std::move(body), ending, std::move(process));
}

const void* Host::process() {
  const Fiber* const fiber = Fibers::running();
  return fiber == nullptr || fiber->host() != this ? nullptr : fiber->process().get();
}

void Host::on_start(std::string_view name, std::function<void()> body, Ending ending) {
  spawn(name, body, ending);
  power_.startups_.push_back({std::string(name), std::move(body), ending});
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

bool Host::slow_down(Duration delay) {
  if (observer_.slowness() == delay) return false;
  observer_.set_slowness(delay);
  observer_.watch_gate();
  return true;
}

// --- Runtime ------------------------------------------------------------------------------------

Instant Host::now() {
  return clock_.at(world_.now());
}

bool Host::drift(std::int32_t ppm) {
  const bool changes = ppm != clock_.drift_ppm();
  clock_.set_drift(ppm, world_.now());
  deadlines_moved() = true;
  world_.scheduler().settle_later(*this);
  return changes;
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
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    if (Hca* const device = interfaces_.all_[i].nic->running(); device != nullptr)
      send_packets(*device, i);
  }
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

void Host::send_packets(Hca& device, std::size_t interface) {
  while (verbs::soft::PacketPtr packet = device.next_packet()) {
    const std::size_t at = interface + packet->port - 1;
    world_.transmit(*this, at, std::move(packet));
  }
}

bool Host::receive(std::size_t interface, const Host& from, verbs::soft::PacketPtr&& packet) {
  if (!running()) {
    power_.receive_later(interface, from, std::move(packet));
    return false;
  }
  Nic& nic = *interfaces_.all_[interface].nic;
  if (packet->ip_protocol != 0) {
    take_ip(nic, from, *packet);
    return false;
  }
  return nic.take(from, std::move(packet));
}

void Host::take_ip(const Nic& nic, const Host& from, const verbs::soft::Packet& packet) {
  if (nic.port_is_down()) return world_.drop(*this, &from, DropCause::kWrongState, packet);
  const bool is_whole = !recording::fragment_of(packet);
  if (is_whole && !recording::checksum_is_right(packet.source, packet.destination,
                                                packet.ip_protocol, packet.payload()))
    return world_.drop(*this, &from, DropCause::kMalformed, packet);
  if (world_.ip_receiver_ != nullptr) world_.ip_receiver_->on_ip(*this, packet);
}

void Host::cancel_deadline() {
  world_.scheduler().cancel(*deadline_);
}

void Host::on_deadline() {
  verbs::CriticalSection section(*this);
  deadlines_moved() = true;
  transport_->on_timer(now());
  for (const Interface& each : interfaces_) {
    if (Hca* const device = each.nic->running(); device != nullptr) device->on_timer(now());
  }
}

void Host::settle() {
  if (!running()) return cancel_deadline();
  if (!std::exchange(deadlines_moved(), false)) return;
  std::optional<Instant> next = transport_->next_deadline();
  for (const Interface& each : interfaces_) {
    if (const Hca* const device = each.nic->running(); device != nullptr)
      next = verbs::earlier(next, device->next_deadline());
  }
  Scheduler& scheduler = world_.scheduler();
  if (!next) return scheduler.cancel(*deadline_);
  const Instant due = world_time(*next);
  if (deadline_->armed() && scheduler.time_of(*deadline_) == due) return;
  scheduler.at(*deadline_, due);
}

}  // namespace anyrdma::sim
