// The mistakes that a host's devices find in fibers (sim/mistakes.h).
#include <string>

#include "sim/host.h"
#include "sim/mistakes.h"
#include "sim/recorder.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

/// The fiber that runs, if it is one of the host's; a packet or a timer is nobody's.
std::string program_here(const World& world, const Host& host) {
  const Fiber* const fiber = world.scheduler().fibers().current();
  return fiber != nullptr && fiber->host() == &host ? fiber->name() : host.name();
}

}  // namespace

void Host::on_finding(const verbs::soft::OwnershipFinding& finding) {
  world_.mistakes()->add({.checker = std::string(finding.checker),
                          .program = program_here(world_, *this),
                          .remark = finding.remark,
                          .text = finding.text + " (" + describe(mark()) + ")"});
}

void Host::on_owed(const Owed& owed) {
  if (world_.mistakes() == nullptr) return;
  Mistake mistake = owed_mistake(owed, program_here(world_, *this));
  mistake.text += " (" + describe(mark()) + ")";
  if (!owed.own) return world_.mistakes()->add(mistake);
  world_.mistakes()->on_wait(name_ + " " + std::to_string(mark().who), world_.now(),
                             std::move(mistake));
}

void Host::on_paid() {
  if (world_.mistakes() != nullptr)
    world_.mistakes()->on_wait_over(name_ + " " + std::to_string(mark().who));
}

}  // namespace anyrdma::sim
