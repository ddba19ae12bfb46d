// The mistakes that a host's devices find in fibers (sim/mistakes.h).
#include <string>
#include <utility>

#include "sim/host.h"
#include "sim/mistakes.h"
#include "sim/recorder.h"
#include "sim/regions/calls_of_fibers.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

/// The fiber that runs, if it is one of the host's; a packet or a timer is nobody's.
std::string program_here(const World& world, const Host& host) {
  const Fiber* const fiber = world.scheduler().fibers().current();
  return fiber != nullptr && fiber->host() == &host ? fiber->name() : host.name();
}

}  // namespace

void HostObserver::on_finding(const verbs::soft::OwnershipFinding& finding) {
  world_.mistakes()->add({.checker = std::string(finding.checker),
                          .program = program_here(world_, host_),
                          .remark = finding.remark,
                          .text = finding.text + " (" + describe(mark()) + ")"});
}

verbs::Runtime::Mark HostObserver::mark() {
  return host_.mark();
}

std::string HostObserver::describe(const verbs::Runtime::Mark& mark) {
  return host_.describe(mark);
}

void HostObserver::watch_memory(verbs::LostMemory& lost, std::uint64_t begin, std::uint64_t end) {
  watch_own_memory(lost, begin, end, *this);
}

void HostObserver::forget_memory(verbs::LostMemory& lost) {
  forget_own_memory(lost);
}

void HostObserver::on_owed(const verbs::Runtime::Owed& owed) {
  if (world_.mistakes() == nullptr) return;
  Mistake mistake = owed_mistake(owed, program_here(world_, host_));
  mistake.text += " (" + describe(mark()) + ")";
  if (!owed.own) return world_.mistakes()->add(mistake);
  world_.mistakes()->on_wait(host_.name() + " " + std::to_string(mark().who), world_.now(),
                             std::move(mistake));
}

void HostObserver::on_paid() {
  if (world_.mistakes() != nullptr)
    world_.mistakes()->on_wait_over(host_.name() + " " + std::to_string(mark().who));
}

}  // namespace anyrdma::sim
