#include "transport/open/real.h"

#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include "transport/fabric/fabric.h"
#include "transport/fault/part.h"
#include "transport/open/faulty.h"
#include "transport/open/overseen.h"
#include "transport/open/process_recorder.h"
#include "transport/open/record_file.h"
#include "transport/open/recorded.h"
#include "transport/open/watchable.h"
#include "transport/open/world_memory.h"
#include "transport/rxe/link.h"
#include "transport/ucma/ucma.h"
#include "transport/udp/udp.h"
#include "verbs/soft/thread_sanitizer.h"

namespace anyrdma::transport {
namespace {

/// What has transport(), forked() and retire() as Opened describes them.
template <class Host>
class OpenedAs : public Opened, public Concluding {
 public:
  OpenedAs(const char* name, std::unique_ptr<Host> host) : name_(name), host_(std::move(host)) {}
  Transport& transport() override { return host_->transport(); }
  const char* name() const override { return name_; }
  bool forked() const override { return host_->forked(); }
  void retire() override { host_->retire(); }
  realtime::Epilogue& epilogue() override { return host_->epilogue(); }

 protected:
  [[nodiscard]] Host& host() const { return *host_; }

 private:
  const char* name_;
  std::unique_ptr<Host> host_;
};

/// What has faults below it, too, and packets and work to be seen.
template <class Station>
class OpenedStation final : public OpenedAs<Station>, public Breakable, public Watchable {
 public:
  using OpenedAs<Station>::OpenedAs;
  verbs::Result<void> remove_device(std::size_t rail) override {
    return this->host().remove_device(rail);
  }
  verbs::Result<void> set_port(std::size_t rail, bool active) override {
    return this->host().set_port(rail, active);
  }
  verbs::Result<void> raise_event(std::size_t rail, ibv_event_type event) override {
    return this->host().raise_event(rail, event);
  }
  void apply(const soft::DeviceChange& change, std::size_t rail) override {
    this->host().apply(change, rail);
  }
  void set_admission(soft::Admission* admission) override { this->host().set_admission(admission); }
  void set_call_gate(verbs::CallGate* gate) override { this->host().set_call_gate(gate); }
  void set_packet_gate(verbs::PacketGate* gate) override { this->host().set_packet_gate(gate); }
  void set_packet_watch(station::PacketWatch* watch) override {
    this->host().set_packet_watch(watch);
  }
  [[nodiscard]] std::size_t devices() const override { return this->host().devices(); }
  [[nodiscard]] std::size_t rails() const override { return this->host().rails(); }
  void set_work_observer(std::size_t device, verbs::soft::HcaObserver* observer) override {
    this->host().set_work_observer(device, observer);
  }
  void set_ownership_sink(verbs::soft::OwnershipSink* sink) override {
    this->host().set_ownership_sink(sink);
  }
};

boost::system::error_code errno_of(const boost::system::error_code& error) {
  return verbs::errno_code(error.default_error_condition().value());
}

/// An error is worded by the explain() of the configuration's room.
template <template <class> class As, class Host, class Config>
OpenResult opened_as(const char* name, verbs::Result<std::unique_ptr<Host>> host,
                     const Config& config) {
  if (!host) {
    return OpenError{errno_of(host.error()), explain(host.error(), config)};
  }
  return std::unique_ptr<Opened>(std::make_unique<As<Host>>(name, std::move(*host)));
}

/// What is done in a peer's memory is no packet, and nothing can happen to it.
OpenResult open_fabric(const OpenOptions& options) {
  fabric::FabricConfig config = options.fabric;
  if (fault::watches_packets(options.faults.plan) || verbs::soft::thread_sanitizer::is_enabled())
    config.near_memory = false;
  if (options.asks_world && options.memory != verbs::soft::MemoryProfile::kStrict) {
    config.memory = options.memory;
    config.memory_chooser = &memory_of_world();
  }
  return opened_as<OpenedStation>("fabric", fabric::Fabric::open(config), config);
}

OpenResult open_udp(const OpenOptions& options) {
  return opened_as<OpenedStation>("udp", udp::Udp::open(options.udp), options.udp);
}

OpenResult open_ucma(const OpenOptions& options) {
  return opened_as<OpenedAs>("ucma", ucma::Ucma::open(options.ucma), options.ucma);
}

OpenResult open_rxe(const OpenOptions& options) {
  auto link = rxe::Link::find_or_add(options.interface);
  const auto kept = link ? link->end_with_process() : link.error();
  if (!kept) {
    return OpenError{errno_of(kept.error()), rxe::explain(kept.error(), {}, options.interface)};
  }
  return opened_as<OpenedAs>("rxe", ucma::Ucma::open(options.ucma), options.ucma);
}

OpenResult open_auto(const OpenOptions& options) {
  auto real = open_ucma(options);
  if (real) return real;
  return open_fabric(options);
}

// --- recordings ---------------------------------------------------------------------------------

/// Null: nothing is recorded.
std::unique_ptr<ProcessRecorder> start_recording(const OpenOptions& options, const char* name) {
  if (options.record.path.empty()) return nullptr;
  RecordingProcess process = this_process(options.record.host);
  auto file = open_record_file(options.record.path, process);
  const auto& say = options.record.say;
  if (!file) {
    if (say) say("the process is not recorded: " + file.error().sentence);
    return nullptr;
  }
  if (file->another && say) {
    say("process " + std::to_string(process.pid) + " records to '" + file->path +
        "', because another process records to '" + options.record.path + "'.");
  }
  return std::make_unique<ProcessRecorder>(std::move(file->sink), process, name);
}

/// The recorder hears of each fault that happens before anybody else does.
FaultOptions told_to(ProcessRecorder& recorder, const FaultOptions& options) {
  recorder.planned(options.plan);
  FaultOptions told = options;
  told.on_fired = [&recorder, next = options.on_fired](const fault::FaultStatus& status) {
    recorder.fired(status);
    if (next) next(status);
  };
  return told;
}

// --- names --------------------------------------------------------------------------------------

struct Row {
  const char* name;
  OpenResult (*open)(const OpenOptions&);  ///< null: not in real time
};

constexpr Row kRows[] = {
    {"auto", open_auto}, {"fabric", open_fabric}, {"rxe", open_rxe},
    {"sim", nullptr},    {"ucma", open_ucma},     {"udp", open_udp},
};

const Row* row_of(std::string_view name) {
  for (const Row& row : kRows)
    if (name == row.name) return &row;
  return nullptr;
}

std::string known_names() {
  std::string names;
  for (const Row& row : kRows) {
    if (&row != kRows) names += &row == std::end(kRows) - 1 ? " or " : ", ";
    names += row.name;
  }
  return names;
}

}  // namespace

std::string why_not_real(std::string_view name) {
  const Row* const row = row_of(name);
  if (row == nullptr)
    return "There is no transport '" + std::string(name) + "': choose " + known_names() + ".";
  if (row->open != nullptr) return {};
  return "Only a program that is linked with the simulator can use it: choose another transport, "
         "or "
         "see docs/sim.md.";
}

fault::Abilities fault_abilities(std::string_view transport, std::size_t devices) {
  if (transport == "fabric") return {.name = transport, .devices = devices, .ours = true};
  // The interfaces that the program finds decide how many there are.
  if (transport == "udp") return {.name = transport, .devices = udp::kDevicesMax, .ours = true};
  return {.name = transport};
}

OpenResult open_real(std::string_view name, const OpenOptions& options) {
  if (auto why = why_not_real(name); !why.empty()) {
    return OpenError{verbs::errno_code(EINVAL), std::move(why)};
  }
  OpenResult opened = row_of(name)->open(options);
  if (opened && options.asks_world) {
    if (!options.faults.plan.faults.empty()) {
      return OpenError{
          verbs::errno_code(EINVAL),
          "ANYRDMA_FAULTS has no effect on a simulated host: give the fault plan to anyrdma sim."};
    }
    auto* const breakable = dynamic_cast<Breakable*>(opened->get());
    auto* const watchable = dynamic_cast<Watchable*>(opened->get());
    if (breakable != nullptr && watchable != nullptr)
      return with_oversight(std::move(*opened), *breakable, *watchable);
  }
  if (!opened) return opened;
  auto* const watchable = dynamic_cast<Watchable*>(opened->get());
  auto recorder = options.asks_world ? nullptr : start_recording(options, (*opened)->name());
  if (!options.faults.plan.faults.empty()) {
    auto* const breakable = dynamic_cast<Breakable*>(opened->get());
    auto& concluding = dynamic_cast<Concluding&>(**opened);  // what this file opens is
    opened = with_faults(std::move(*opened), concluding, breakable,
                         recorder ? told_to(*recorder, options.faults) : options.faults);
  }
  if (!opened || recorder == nullptr) return opened;
  return with_recorder(std::move(*opened), watchable, std::move(recorder));
}

}  // namespace anyrdma::transport
