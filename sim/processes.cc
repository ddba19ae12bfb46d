#include "sim/processes.h"

#include <algorithm>
#include <cerrno>

#include "recording/enumerators.h"
#include "sim/host.h"
#include "sim/recorder.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

ibv_wc completion_of(const fault::Question& question) {
  ibv_wc completion{};
  completion.wr_id = question.work.wr_id;
  completion.qp_num = question.work.qp_num;
  completion.status = static_cast<ibv_wc_status>(question.status);
  return completion;
}

void admit(Faults& faults, const Host& host, fault::Question& question) {
  const auto refusal = faults.on_request(host);
  question.refused = refusal && !refusal->postponed;
  if (!refusal) return;
  if (refusal->postponed) question.mra = static_cast<std::uint8_t>(*refusal->postponed + 1);
  question.unanswered = refusal->unanswered;
  question.no_room = refusal->no_room;
  question.reason = refusal->reason;
  const auto& data = refusal->private_data;
  question.size = static_cast<std::uint8_t>(std::min(data.size(), question.data.size()));
  std::copy_n(data.begin(), question.size, question.data.begin());
}

}  // namespace

bool Processes::expected() const {
  return std::ranges::any_of(host_.interfaces(),
                             [](const Interface& each) { return each.nic->has_processes(); });
}

// --- names --------------------------------------------------------------------------------------

void Processes::announce(std::string_view program) {
  announced_.emplace_back(program);
}

std::uint32_t Processes::count(std::string_view program) const {
  const auto count = std::ranges::count(announced_, program) +
                     std::ranges::count(spawned_, program, [](const Spawned& each) {
                       return std::string_view(each.name);
                     });
  return static_cast<std::uint32_t>(count);
}

void Processes::add_spawned(std::string_view name, const std::shared_ptr<Process>& process) {
  spawned_.push_back({std::string(name), process});
}

std::shared_ptr<Process> Processes::find_spawned(std::string_view name,
                                                 std::uint32_t number) const {
  std::uint32_t found = 0;
  for (const Spawned& each : spawned_) {
    if (each.name == name && ++found == number) return each.process.lock();
  }
  return nullptr;
}

// --- reports ------------------------------------------------------------------------------------

void Processes::on_opened(std::string_view process, fault::Question& question) {
  const World& world = host_.world();
  Recorder* const stream = world.stream();
  if (stream != nullptr) stream->opened(host_.index(), process);
  question.oversight = world.faults().oversight();
  question.oversight.points = world.scheduler().chooses();
  question.oversight.entries |= stream != nullptr;
  question.oversight.work = stream != nullptr;
  question.oversight.digests = world.recorder() != nullptr || world.monitor() != nullptr;
  question.oversight.ownership = world.mistakes() != nullptr;
  question.oversight.stacks = world.options().stacks;
  for (const Interface& each : host_.interfaces()) each.nic->on_opened(question);
  const bool any = std::ranges::any_of(host_.interfaces(),
                                       [](const Interface& each) { return each.nic->present(); });
  if (expected() && !any) question.error = ENODEV;
}

void Processes::on_change(fault::Question& question) const {
  std::uint64_t number = question.id;
  std::uint8_t device = 0;
  for (const Interface& each : host_.interfaces()) {
    const Nic::Past* const past = each.nic->past();
    const std::size_t count = past == nullptr ? 0 : past->changes.size();
    if (number < count) {
      const transport::soft::DeviceChange& change = past->changes[number];
      question.change = {.device = device,
                         .kind = static_cast<std::uint8_t>(change.kind),
                         .bits = change.bits,
                         .new_guid = change.new_guid};
      std::ranges::copy(change.neighbour.gid().raw, question.change.address.begin());
      return;
    }
    number -= count;
    ++device;
  }
}

void Processes::hear(std::string_view process, const recording::Entry& entry) {
  using recording::EntryKind;
  // The number of a device is the process's word (recording/packed.h).
  std::uint64_t device = entry.numbers[0];
  std::string_view rail;
  for (const Interface& each : host_.interfaces()) {
    if (device == 0) break;
    if (each.nic->port() == 1 && --device == 0) rail = each.name;
  }
  if (device != 0) return;
  if (Recorder* const stream = host_.world().stream(); stream != nullptr)
    stream->hear(host_.index(), process, rail, entry);
  if (!recording::has_known_enumerators(entry)) return;  // no fault waits for it
  Faults& faults = host_.world().faults();
  using Step = transport::EventObserver::Step;
  const auto& n = entry.numbers;
  if (entry.kind == EntryKind::kQueued) {
    faults.on_event(host_, Step::kQueued, n[1], static_cast<rdma_cm_event_type>(n[3]));
  } else if (entry.kind == EntryKind::kFetched) {
    faults.on_event(host_, Step::kFetched, n[1], static_cast<rdma_cm_event_type>(n[2]));
  } else if (entry.kind == EntryKind::kCalled && n[3] == 0) {
    faults.on_call(host_, n[1], entry.texts[0]);
  } else if (entry.kind == EntryKind::kIdState) {
    faults.on_state(host_, n[1], entry.texts[0]);
  }
}

void Processes::forget(std::string_view process) {
  if (Recorder* const stream = host_.world().stream(); stream != nullptr)
    stream->gone(host_.index(), process);
}

Duration Processes::advise(std::string_view process, fault::Question& question) {
  Faults& faults = host_.world().faults();
  switch (question.kind) {
    case fault::Question::Kind::kOpened:
      on_opened(process, question);
      return {};
    case fault::Question::Kind::kChange:
      on_change(question);
      return {};
    case fault::Question::Kind::kRoute:
      question.error = faults.on_routing(host_);
      return {};
    case fault::Question::Kind::kRequest:
      admit(faults, host_, question);
      return {};
    case fault::Question::Kind::kCall:
      question.error = faults.on_gate(host_, question.id, question.text());
      return {};
    case fault::Question::Kind::kWork:
      question.status = faults.on_work(host_, question.work);
      return {};
    case fault::Question::Kind::kFailure:
      faults.on_failure(completion_of(question));
      return {};
    case fault::Question::Kind::kTake:
      return host_.observer_.slowness();
  }
  return {};
}

void Processes::note_output(std::string_view program, bool error, std::string_view line) {
  World& world = host_.world();
  const std::string_view name = program.substr(program.find('/') + 1);
  world.trace().note(world.now(), host_.index(),
                     std::string(name) + (error ? " (stderr): " : ": ") + std::string(line));
  if (world.recorder() != nullptr) world.recorder()->output(program, error, line);
}

void Processes::note_end(std::string_view program, std::string_view how) {
  World& world = host_.world();
  const std::string_view name = program.substr(program.find('/') + 1);
  world.trace().note(world.now(), host_.index(), std::string(name) + " " + std::string(how));
  if (world.recorder() != nullptr) world.recorder()->ended(program, how);
}

}  // namespace anyrdma::sim
