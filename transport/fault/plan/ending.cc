#include "transport/fault/plan/ending.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>

#include "transport/fault/plan/scalars.h"
#include "verbs/overloaded.h"

namespace anyrdma::fault {
namespace {

template <class Part>
constexpr bool kHasEnd = requires {
  Part::kEnds;
};

/// "crash, pause, cut ...", as the kinds are ordered.
template <std::size_t... I>
std::string kinds_with_end(std::index_sequence<I...>) {
  std::string text;
  const auto add = [&text]<class Part>(const Part*) {
    if constexpr (kHasEnd<Part>) text += (text.empty() ? "" : ", ") + std::string(Part::kKind);
  };
  (add(static_cast<const std::variant_alternative_t<I, ActionKinds>*>(nullptr)), ...);
  return text;
}

}  // namespace

bool has_end(const FaultAction& action) {
  return std::visit([]<class Part>(const Part&) { return kHasEnd<Part>; }, action);
}

std::optional<FaultAction> ending_of(const FaultAction& action) {
  using Ending = std::optional<FaultAction>;
  const verbs::Overloaded cases{
      [](const RemoveDevice& remove) -> Ending {
        return ReturnDevice{remove.host, remove.device};
      },
      [](const PortDown& down) -> Ending {
        return PortUp{down.host, down.device, down.port};
      },
      [](const CrashHost& crash) -> Ending { return RestartHost{crash.host}; },
      [](const PauseHost& pause) -> Ending {
        return ResumeHost{pause.host, pause.program, pause.number, pause.thread};
      },
      [](const DriftClock& drift) -> Ending {
        return DriftClock{drift.host, 0};
      },
      [](const AddAddress& add) -> Ending {
        return DropAddress{add.host, add.interface, add.address};
      },
      [](const ChangeAddress& change) -> Ending {
        return RestoreAddress{change.host, change.interface};
      },
      [](const CutRail& cut) -> Ending {
        return MendRail{cut.host, cut.interface};
      },
      [](const SlowRail& slow) -> Ending {
        return SlowRail{slow.host, slow.interface, {}};
      },
      [](const CutPath& cut) -> Ending {
        return MendPath{cut.from, cut.to, cut.both};
      },
      [](const ClogPath& clog) -> Ending {
        return MendPath{clog.from, clog.to, clog.both};
      },
      [](const SlowConsumer& slow) -> Ending {
        return SlowConsumer{slow.host, {}};
      },
      [](const auto&) -> Ending { return std::nullopt; }};
  return std::visit(cases, action);
}

std::string lasting_problem(const Fault& fault) {
  const Lasting& lasts = fault.lasts;
  if (lasts.for_ever()) return "";
  if (!has_end(fault.action)) {
    const std::string_view kind =
        std::visit([]<class Part>(const Part&) { return Part::kKind; }, fault.action);
    return in_quotes(kind) + " has no end: 'for' goes with " +
           kinds_with_end(std::make_index_sequence<std::variant_size_v<ActionKinds>>());
  }
  if (lasts.least <= verbs::Duration::zero()) return "a duration must be longer than 0s";
  if (lasts.most < lasts.least) {
    return in_quotes(word_of(lasts)) + " is in the wrong order: the shorter time comes first";
  }
  return "";
}

}  // namespace anyrdma::fault
