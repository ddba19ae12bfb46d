#include "sim/fault_action.h"

#include <string>
#include <utility>

#include "sim/host.h"
#include "sim/world.h"
#include "transport/fault/plan/ending.h"
#include "transport/fault/plan/scalars.h"
#include "verbs/overloaded.h"

namespace anyrdma::sim {
namespace {

bool set_path(World& world, Host& from, Host& to, bool down) {
  LinkOptions options = world.path(from, to);
  const bool clogged = options.clogged && down;
  if (options.down == down && options.clogged == clogged) return false;
  options.down = down;
  options.clogged = clogged;
  world.set_path(from, to, options);
  return true;
}

/// Calls `change(from, to)` for each path that is meant; true if one of them did.
template <class Path, class Change>
bool on_each(World& world, const Path& path, Change&& change) {
  bool changed = false;
  const bool wild = path.from.empty() || path.to.empty();
  for (const auto& from : world.hosts()) {
    for (const auto& to : world.hosts()) {
      if (wild && from == to) continue;  // a machine always reaches itself
      if (!path.from.empty() && path.from != from->name()) continue;
      if (!path.to.empty() && path.to != to->name()) continue;
      changed |= change(*from, *to);
      if (path.both && from != to) changed |= change(*to, *from);
    }
  }
  return changed;
}

Host& host(World& world, const std::string& name) {
  return *world.find_host(name);  // inject() has looked
}

bool kill(Host& at, const KillPrograms& killed) {
  if (killed.program.empty()) return at.power().kill().has_value();
  return at.power().kill_program(killed.program, killed.number).has_value();
}

/// PauseHost, ResumeHost.
bool set_paused(World& world, const auto& what, bool paused) {
  Power& power = host(world, what.host).power();
  if (what.program.empty()) return (paused ? power.pause() : power.resume()).has_value();
  return (paused ? power.pause_program(what.program, what.number, what.thread)
                 : power.resume_program(what.program, what.number, what.thread))
      .has_value();
}

bool change_paths(World& world, const FaultAction& action) {
  const verbs::Overloaded cases{[&](const ClogPath& clog) {
                                  return on_each(world, clog, [&](Host& from, Host& to) {
                                    LinkOptions options = world.path(from, to);
                                    const bool changed = !std::exchange(options.clogged, true);
                                    world.set_path(from, to, options);
                                    return changed;
                                  });
                                },
                                [&](const CutPath& cut) {
                                  return on_each(world, cut, [&](Host& from, Host& to) {
                                    return set_path(world, from, to, true);
                                  });
                                },
                                [&](const MendPath& mend) {
                                  return on_each(world, mend, [&](Host& from, Host& to) {
                                    return set_path(world, from, to, false);
                                  });
                                },
                                [&](const SlowPath& slow) {
                                  return on_each(world, slow, [&](Host& from, Host& to) {
                                    LinkOptions options = world.path(from, to);
                                    const bool changed = options.latency != slow.latency;
                                    options.latency = slow.latency;
                                    world.set_path(from, to, options);
                                    return changed;
                                  });
                                },
                                [](const auto&) { return false; }};
  return std::visit(cases, action);
}

/// The name of the port that an action is about (sim/port_name.h).
std::string port_of(const auto& action) {
  return action.port == 0 ? action.device : action.device + "/" + std::to_string(action.port);
}

/// Devices and their objects; else paths.
bool change_devices(World& world, const FaultAction& action) {
  const auto devices = [&world](const auto& what) -> Devices& {
    return host(world, what.host).devices();
  };
  const verbs::Overloaded cases{
      [&](const RemoveDevice& remove) { return devices(remove).remove(remove.device).has_value(); },
      [&](const ReturnDevice& plug) {
        return devices(plug).bring_back(plug.device, plug.new_guid).has_value();
      },
      [&](const PortDown& port) {
        return devices(port).set_port(port_of(port), false).has_value();
      },
      [&](const PortUp& port) { return devices(port).set_port(port_of(port), true).has_value(); },
      [&](const RaiseEvent& raise) {
        return devices(raise)
            .raise_event(port_of(raise), fault::device_event(raise.event))
            .has_value();
      },
      [&](const LoseGroup& lose) { return devices(lose).lose_group(lose.address).has_value(); },
      [&](const FailQueuePair& fail) {
        return devices(fail).fail_qp({fail.qp.made, fail.qp.number}, fail.event).has_value();
      },
      [&](const OverrunQueue& overrun) {
        return devices(overrun).overrun_cq(overrun.cq.made).has_value();
      },
      [&](const FailSharedQueue& fail) {
        return devices(fail).fail_srq(fail.srq.made).has_value();
      },
      [&](const auto&) { return change_paths(world, action); }};
  return std::visit(cases, action);
}

}  // namespace

bool carry_out(World& world, const FaultAction& action) {
  const verbs::Overloaded cases{
      [&](const ChangeAddress& change) {
        return host(world, change.host).interfaces().fail_over(change.interface).has_value();
      },
      [&](const RestoreAddress& restore) {
        return host(world, restore.host).interfaces().fail_back(restore.interface).has_value();
      },
      [&](const CutRail& cut) {
        return host(world, cut.host).interfaces().set_rail(cut.interface, false).has_value();
      },
      [&](const MendRail& mend) {
        return host(world, mend.host).interfaces().set_rail(mend.interface, true).has_value();
      },
      [&](const SlowRail& slow) {
        return host(world, slow.host)
            .interfaces()
            .slow_rail(slow.interface, slow.delay)
            .has_value();
      },
      [&](const AddAddress& add) {
        return host(world, add.host)
            .interfaces()
            .add_address(add.interface, add.address)
            .has_value();
      },
      [&](const DropAddress& drop) {
        return host(world, drop.host)
            .interfaces()
            .drop_address(drop.interface, drop.address)
            .has_value();
      },
      [&](const ConfirmNeighbour& confirm) {
        return host(world, confirm.host).neighbours().confirm(confirm.address).has_value();
      },
      [&](const ForgetNeighbour& forget) {
        return host(world, forget.host).neighbours().forget(forget.address).has_value();
      },
      [&](const CrashHost& crash) { return host(world, crash.host).power().crash().has_value(); },
      [&](const KillPrograms& killed) { return kill(host(world, killed.host), killed); },
      [&](const RestartHost& restart) {
        host(world, restart.host).power().restart();
        return true;
      },
      [&](const PauseHost& pause) { return set_paused(world, pause, true); },
      [&](const ResumeHost& resume) { return set_paused(world, resume, false); },
      [&](const DriftClock& drift) { return host(world, drift.host).drift(drift.ppm); },
      [&](const SlowConsumer& slow) { return host(world, slow.host).slow_down(slow.delay); },
      [&](const auto&) { return change_devices(world, action); }};
  return std::visit(cases, action);
}

Before before_action(World& world, const FaultAction& action) {
  Before before;
  const auto* slow = std::get_if<SlowPath>(&action);
  if (slow == nullptr) return before;
  (void)on_each(world, *slow, [&](Host& from, Host& to) {
    before.latencies.push_back({&from, &to, world.path(from, to).latency});
    return true;
  });
  return before;
}

void carry_out_end(World& world, const FaultAction& action, const Before& before) {
  for (const auto& [from, to, latency] : before.latencies) {
    LinkOptions options = world.path(*from, *to);
    options.latency = latency;
    world.set_path(*from, *to, options);
  }
  const auto* crash = std::get_if<CrashHost>(&action);
  if (crash != nullptr && !host(world, crash->host).power().off()) return;
  const auto ending = fault::ending_of(action);
  if (ending) (void)carry_out(world, *ending);
}

}  // namespace anyrdma::sim
