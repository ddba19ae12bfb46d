#include "transport/fault/part.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/number.h"
#include "transport/fault/plan/altered_field.h"
#include "transport/fault/plan/flaps.h"
#include "transport/fault/plan/legal.h"
#include "transport/fault/plan/name_visitor.h"
#include "transport/fault/plan/scalars.h"
#include "verbs/overloaded.h"

namespace anyrdma::fault {
namespace {

template <class T, class... Kinds>
concept OneOf = (std::same_as<T, Kinds> || ...);

/// The hosts that a trigger or action names.
class HostCollector : public NameVisitor<HostCollector> {
 public:
  std::set<std::string> hosts;

  void name(std::string_view key, const std::string& name) {
    if (key == "host") hosts.insert(name);
  }
  void named(const std::string& host) { hosts.insert(host); }
};

template <class Variant>
std::set<std::string> named_in(const Variant& variant) {
  HostCollector collector;
  std::visit([&]<class Part>(const Part& part) { Part::visit(collector, part); }, variant);
  return collector.hosts;
}

// --- what cannot be done ------------------------------------------------------------------------

constexpr std::uint8_t kConsumerDefined = 28;
constexpr std::uint8_t kVendorOption = 35;

std::string on_this(const Abilities& abilities, std::string_view sentence) {
  return "over " + std::string(abilities.name) + " " + std::string(sentence);
}

std::string problem_with_trigger(const Trigger& trigger, const Abilities& can) {
  const std::string no_packets =
      can.ours ? ""
               : on_this(can, "packets cannot be observed; use request, queued, fetched or call");
  const verbs::Overloaded cases{
      [&](const OneOf<OnMessage, OnPacket> auto& on) {
        if (!no_packets.empty() || (on.from_interface.empty() && on.to_interface.empty()))
          return no_packets;
        return on_this(can, "interfaces cannot be distinguished; write " + on.from + "->" + on.to);
      },
      [&](const OnCompletion&) {
        return can.ours ? "" : on_this(can, "completions cannot be observed");
      },
      [&](const OnState&) { return on_this(can, "states of ids cannot be observed"); },
      [&](const OnResolving&) {
        return on_this(can, "the resolution of addresses cannot be observed");
      },
      [&](const OnRouting&) {
        return can.ours ? "" : on_this(can, "the kernel resolves routes, which cannot be observed");
      },
      [&](const OnCall& on) {
        const bool of_cm =
            is_call_on_id(on.call) || on.call == "create_id" || on.call == "create_event_channel";
        return can.ours || of_cm ? "" : on_this(can, "calls of verbs cannot be observed");
      },
      [](const auto&) { return std::string(); }};
  return std::visit(cases, trigger);
}

std::string problem_with_device(const std::string& device, const Abilities& abilities) {
  if (abilities.devices == 0) return {};
  const auto number = device_number(device);
  if (number && *number < abilities.devices) return {};
  const std::string first = in_quotes("anyrdma0");
  if (abilities.devices == 1) return on_this(abilities, "the only device is " + first);
  const std::string last = "anyrdma" + std::to_string(abilities.devices - 1);
  return on_this(abilities, "the devices are " + first + " to " + in_quotes(last));
}

std::string problem_with_action(const FaultAction& action, const Abilities& can) {
  const auto port = [&](const std::string& device, std::uint8_t number) {
    if (!can.ours) return on_this(can, "a port cannot be taken down");
    if (number > 1) return on_this(can, "the only port is " + in_quotes(device + "/1"));
    return problem_with_device(device, can);
  };
  const verbs::Overloaded cases{
      [&](const RejectRequest& reject) {
        const bool plain = reject.reason == kConsumerDefined || reject.reason == kVendorOption;
        return can.ours || plain ? ""
                                 : on_this(can, "a rejection can only have the reason 28 or 35");
      },
      [&](const StaleRequest&) {
        return can.ours ? "" : on_this(can, "a rejection can only have the reason 28 or 35");
      },
      [&](const RaiseEvent& raise) {
        if (!can.ours) return on_this(can, "events of devices cannot be raised");
        return problem_with_device(raise.device, can);
      },
      [&](const OneOf<OverflowBacklog, IgnoreRequest> auto&) {
        return can.ours ? "" : on_this(can, "a received request cannot be dropped");
      },
      [&](const PostponeRequest&) {
        return can.ours ? "" : on_this(can, "only the kernel sends MRA");
      },
      [](const OneOf<AlterMessage, FailRouting, LoseMessage, DelayMessage, DuplicateMessage,
                     CorruptMessage, ReorderMessage, HoldEvent, ChangeAddress, FailCall,
                     CompleteWork, CrashHost> auto&) { return std::string(); },
      [&](const OneOf<KillPrograms, PauseHost> auto& whom) {
        const std::string kind(std::decay_t<decltype(whom)>::kKind);
        return whom.program.empty()
                   ? ""
                   : on_this(can, "the program is the whole host; write " + kind + " " + whom.host);
      },
      [&](const RemoveDevice& remove) { return problem_with_device(remove.device, can); },
      [&](const PortDown& down) { return port(down.device, down.port); },
      [&](const PortUp& up) { return port(up.device, up.port); },
      [&](const FlapPort&) {
        return on_this(can, "a port can flap only at a time ('at 1s: flap ...')");
      },
      [&](const auto& other) {
        return on_this(can, in_quotes(std::decay_t<decltype(other)>::kKind) + " is not possible");
      }};
  return std::visit(cases, action);
}

// --- packets ------------------------------------------------------------------------------------

/// From whom, to whom; nothing: the trigger is no packet's.
std::optional<std::pair<std::string, std::string>> way_of(const Trigger& trigger) {
  if (const auto* on = std::get_if<OnMessage>(&trigger)) return std::pair(on->from, on->to);
  if (const auto* on = std::get_if<OnPacket>(&trigger)) return std::pair(on->from, on->to);
  return std::nullopt;
}

/// Who sees that a trigger is pulled; nobody: everybody does. A packet is seen by its sender, or,
/// as that may be anybody, by who gets it.
std::set<std::string> witnesses_of(const Trigger& trigger) {
  const auto way = way_of(trigger);
  if (!way) return named_in(trigger);
  const std::string& witness = way->first.empty() ? way->second : way->first;
  return witness.empty() ? std::set<std::string>() : std::set<std::string>{witness};
}

/// Whom the host's packets with this trigger go to; empty: to anybody.
std::string peer_in(const Trigger& trigger, const std::string& host) {
  const auto way = way_of(trigger);
  return way && way->first == host ? way->second : std::string();
}

/// Nothing: the fault is for another host.
std::optional<std::string> problem_on(const Fault& fault, const std::string& host,
                                      const Abilities& abilities) {
  const std::set<std::string> causes = witnesses_of(fault.trigger);
  const std::set<std::string> victims = named_in(fault.action);
  const bool caused_here = causes.empty() || causes.contains(host);
  const bool happens_here = victims.empty() ? caused_here : victims.contains(host);
  if (!happens_here) {
    if (causes.empty() || !causes.contains(host)) return std::nullopt;
  }
  if (!caused_here || !happens_here) return "its trigger and its action are on different hosts";
  if (std::string problem = problem_with_trigger(fault.trigger, abilities); !problem.empty()) {
    return problem;
  }
  if (std::string problem = problem_with_field(fault); !problem.empty()) return problem;
  const bool ends = std::holds_alternative<PortDown>(fault.action) ||
                    std::holds_alternative<FlapPort>(fault.action);
  if (!fault.lasts.for_ever() && !ends) {
    return on_this(abilities, "only port-down can have 'for'");
  }
  return problem_with_action(fault.action, abilities);
}

}  // namespace

std::optional<std::size_t> device_number(std::string_view name) {
  constexpr std::string_view kBefore = "anyrdma";
  if (!name.starts_with(kBefore)) return std::nullopt;
  const std::string_view digits = name.substr(kBefore.size());
  const auto number = whole_number<std::size_t>(digits);
  if (!number || std::to_string(*number) != digits) return std::nullopt;  // "anyrdma01"
  return number;
}

std::vector<std::string> hosts_of(const FaultPlan& plan) {
  std::set<std::string> hosts;
  for (const Fault& fault : plan.faults) {
    hosts.merge(named_in(fault.trigger));
    hosts.merge(named_in(fault.action));
  }
  return {hosts.begin(), hosts.end()};
}

PlanResult<std::string> only_host(const FaultPlan& plan) {
  const std::vector<std::string> hosts = hosts_of(plan);
  if (hosts.empty()) return std::string("here");
  if (hosts.size() == 1) return hosts.front();
  std::string names;
  for (const std::string& name : hosts) names += (names.empty() ? "" : ", ") + name;
  return PlanError{1, "the plan names several hosts (" + names + "): say which one the program is"};
}

PlanResult<FaultPlan> part_of(const FaultPlan& plan, const std::string& host,
                              const Abilities& abilities) {
  FaultPlan part;
  std::string only_peer;
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    for (Fault& fault : each_flap(plan.faults[i])) {
      auto problem = problem_on(fault, host, abilities);
      if (!problem) continue;
      const std::string peer = peer_in(fault.trigger, host);
      if (only_peer.empty()) only_peer = peer;
      if (problem->empty() && !peer.empty() && peer != only_peer)
        problem = on_this(abilities, "peers cannot be distinguished; write " + host + "->*");
      if (!problem->empty()) return PlanError{i + 1, *problem};
      part.faults.push_back(std::move(fault));
    }
  }
  return part;
}

bool watches_packets(const FaultPlan& plan) {
  return std::ranges::any_of(plan.faults,
                             [](const Fault& fault) { return way_of(fault.trigger).has_value(); });
}

}  // namespace anyrdma::fault
