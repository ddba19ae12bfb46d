// Breakpoints and watchpoints: where gdb wants them, and where the threads have them.
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "sim/debug/cluster/cluster.h"

namespace anyrdma::sim::debug {

bool Cluster::insert(std::int64_t process, const Point& point) {
  Debuggee* const it = find(process);
  if (it == nullptr) return true;  // until it is there
  Wanted& all = wanted(*it);
  it->stale = true;
  if (point.kind == Point::Kind::kCode || point.kind == Point::Kind::kHardwareCode) {
    all.code.insert(point.address);
    return true;
  }
  if (refuses(point)) return false;
  auto more = all.memory;
  more.insert(point);
  if (!compares() && !debug_registers(more)) return false;
  all.memory = std::move(more);
  std::string value(point.size, '\0');
  (void)read_memory(process, point.address,
                    std::as_writable_bytes(std::span(value.data(), value.size())));
  it->values[point] = value;
  return true;
}

void Cluster::remove(std::int64_t process, const Point& point) {
  Debuggee* const it = find(process);
  if (it == nullptr) return;
  Wanted& all = wanted(*it);
  it->stale = true;
  if (point.kind == Point::Kind::kCode || point.kind == Point::Kind::kHardwareCode) {
    all.code.erase(point.address);
  } else {
    all.memory.erase(point);
  }
}

void Cluster::sync(Known& it) {
  Debuggee& process = *it.process;
  if (process.process->lender != nullptr) return;
  const bool maps = it.maps;
  if (!std::exchange(process.stale, false) && !maps && !is_led(it)) return;
  std::set<std::uint64_t> all = wanted(process).code;
  const Move* const move = is_led(it) ? next_move(it) : nullptr;
  if (const auto* const until = move == nullptr ? nullptr : std::get_if<UntilAddress>(move)) {
    all.insert(until->address);
    process.stale = true;  // it is there for once
  }
  process.patches.sync(it.thread->tracee(), all);
}

void Cluster::arm(Known& it) {
  std::set<Point> points = wanted(*it.process).memory;
  const Move* const move = is_led(it) ? next_move(it) : nullptr;
  if (const auto* const until = move == nullptr ? nullptr : std::get_if<UntilWatched>(move))
    points.insert(until->points.begin(), until->points.end());
  if (points == it.armed || compares()) return;
  constexpr unsigned kControl = 7;
  const auto registers = debug_registers(points);
  if (!registers) return;
  const tracee::Tracee& tracee = it.thread->tracee();
  (void)tracee.set_debug_register(kControl, 0);
  for (unsigned i = 0; i < registers->addresses.size(); ++i)
    (void)tracee.set_debug_register(i, registers->addresses[i]);
  if (registers->control != 0) (void)tracee.set_debug_register(kControl, registers->control);
  it.armed = std::move(points);
}

/// The watchpoint that the thread's last instruction has triggered.
std::optional<Point> Cluster::triggered(Known& it) {
  constexpr unsigned kStatus = 6;
  if (it.armed.empty()) return std::nullopt;
  const auto registers = debug_registers(it.armed);
  const std::uint64_t status = it.thread->tracee().debug_register(kStatus);
  (void)it.thread->tracee().set_debug_register(kStatus, 0);
  for (unsigned i = 0; i < registers->points.size(); ++i) {
    if ((status >> i & 1) != 0 && registers->points[i]) return registers->points[i];
  }
  return std::nullopt;
}

/// Whether watched memory has another value than when this was asked last.
bool Cluster::changed(Debuggee& it, const tracee::Tracee& thread, const Point& point) {
  if (point.kind != Point::Kind::kWrite) return true;
  std::string value(point.size, '\0');
  (void)thread.read_any(point.address,
                        std::as_writable_bytes(std::span(value.data(), value.size())));
  const auto before = it.values.find(point);
  const bool other = before == it.values.end() || before->second != value;
  it.values[point] = value;
  return other;
}

bool Cluster::is_watch_hit(Known& it, const Event& event) {
  return event.watched && (compares() || changed(*it.process, it.thread->tracee(), *event.watched));
}

}  // namespace anyrdma::sim::debug
