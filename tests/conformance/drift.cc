#include "tests/conformance/drift.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>

#include "tests/conformance/iwarp.h"

namespace anyrdma::conformance {
namespace {

constexpr int kFacts = 60;  // of the docs/facts.md

/// Where Linux says what no kernel of ours could show.
struct Source {
  std::string_view scenarios;  ///< the beginning of their names
  std::string_view function;
};
constexpr auto kSources = std::to_array<Source>({
    {"atomic_write/", "rxe_resp.c of 6.2, atomic_write_reply"},
    {"device_memory/", "hw/mlx5/mr.c, mlx5_ib_reg_dm_mr"},
    {"domains/", "rdma-core, mlx5/verbs.c, mlx5_alloc_parent_domain"},
    {"moderation/", "core/verbs.c, rdma_set_cq_moderation"},
    {"registrations/", "uverbs_cmd.c, ib_uverbs_rereg_mr"},
    {"registrations/that_are_paged", "umem_odp.c, ib_umem_odp_map_dma_and_lock"},
    {"removal/", "cma.c, cma_process_remove"},
    {"removal/of_the_last_device", "cma.c, addr_handler"},
    {"sync/a_removal_instead", "rdma-core, librdmacm/cma.c, rdma_get_request"},
    {"timestamps/", "rdma-core, mlx5/cq.c, mlx5_cq_read_wc_completion_ts"},
    {"xrc/", "uverbs_cmd.c, ib_uverbs_open_xrcd"},
});

/// Empty: none is named. The longest beginning counts.
std::string_view source_of(const std::string& scenario) {
  const Source* best = nullptr;
  for (const Source& each : kSources) {
    const bool fits = scenario.starts_with(each.scenarios);
    if (fits && (best == nullptr || each.scenarios.size() > best->scenarios.size())) best = &each;
  }
  return best == nullptr ? std::string_view() : best->function;
}

bool is_of_a_kernel(const Golden& golden) {
  return find_backend_kind(golden.origin)->is_kernel;
}

/// What only newer kernels can perform: they show what the record says, or its deviation tells.
bool is_shown_by_newer_kernel(const std::string& name) {
  const BackendKind& old = *find_backend_kind("linux");
  const BackendKind& newer = *find_backend_kind("linux-6.12");
  const auto found = std::ranges::find(scenarios(), name, &Scenario::full_name);
  return found != scenarios().end() && !std::ranges::includes(old.abilities, found->needs) &&
         std::ranges::includes(newer.abilities, found->needs);
}

/// "Linux 6.1", "by source: cma.c, cma_process_remove".
std::string judge_of(const std::string& scenario, const Goldens& goldens) {
  const auto golden = goldens.find(scenario);
  if (golden == goldens.end()) return "none";
  if (is_of_a_kernel(golden->second)) return "Linux 6.1";
  if (is_shown_by_newer_kernel(scenario)) return "Linux 6.12";
  return "by source: " + std::string(source_of(scenario));
}

/// The first thing that a backend lacks for a scenario; null: nothing.
const Ability* lacking(const Scenario& scenario, const BackendKind& kind) {
  for (const Ability& ability : scenario.needs) {
    if (!kind.abilities.contains(ability)) return &ability;
  }
  return nullptr;
}

enum class Cell : std::uint8_t { kSame, kDiffers, kNotRun, kUnable };

Cell cell_of(const Scenario& scenario, const BackendKind& kind, const Deviations& deviations) {
  if (lacking(scenario, kind) != nullptr) return Cell::kUnable;
  const Difference* const difference = deviations.find(scenario.full_name(), kind.name);
  if (difference == nullptr) return Cell::kSame;
  return difference->not_run ? Cell::kNotRun : Cell::kDiffers;
}

/// As a heading's anchor has it.
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text;
}

std::string text_of(const Scenario& scenario, const BackendKind& kind,
                    const Deviations& deviations) {
  const auto reason = [&] {
    const Difference* const difference = deviations.find(scenario.full_name(), kind.name);
    const std::string& name = deviations.all[difference->deviation].name;
    return "[" + name + "](#" + lower(name) + ")";
  };
  switch (cell_of(scenario, kind, deviations)) {
    case Cell::kSame:
      return "same";
    case Cell::kDiffers:
      return reason();
    case Cell::kNotRun:
      return "n/a " + reason();
    case Cell::kUnable:
      return "n/a: " + std::string(short_name(*lacking(scenario, kind)));
  }
  return {};
}

/// The columns of the matrix.
std::vector<BackendKind> columns() {
  std::vector<BackendKind> kinds = backend_kinds();
  std::erase_if(
      kinds, [](const BackendKind& kind) { return kind.is_newer_kernel || kind.name == kIwarp; });
  return kinds;
}

std::string matrix(const Goldens& goldens, const Deviations& deviations) {
  std::string text = "| scenario |";
  std::string rule = "|---|";
  for (const BackendKind& kind : columns()) {
    text += " " + std::string(kind.name) + " |";
    rule += "---|";
  }
  text += " reference |\n" + rule + "---|\n";
  for (const Scenario& scenario : scenarios()) {
    text += "| " + scenario.full_name() + " |";
    for (const BackendKind& kind : columns()) {
      text += " " + text_of(scenario, kind, deviations) + " |";
    }
    text += " " + judge_of(scenario.full_name(), goldens) + " |\n";
  }
  return text;
}

std::string summary(const Deviations& deviations) {
  std::string text = "| | same | differs | n/a |\n|---|---|---|---|\n";
  for (const BackendKind& kind : columns()) {
    std::map<Cell, int> counts;
    for (const Scenario& scenario : scenarios()) ++counts[cell_of(scenario, kind, deviations)];
    text += "| " + std::string(kind.name) + " | " + std::to_string(counts[Cell::kSame]) + " | " +
            std::to_string(counts[Cell::kDiffers]) + " | " +
            std::to_string(counts[Cell::kNotRun] + counts[Cell::kUnable]) + " |\n";
  }
  return text;
}

/// A paragraph in lines of at most 100 columns; a longer word has a line of its own.
std::string wrapped(const std::string& text) {
  std::string lines;
  std::size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() <= 100;
    if (!lines.empty()) lines += fits ? ' ' : '\n';
    column = fits && !lines.empty() ? column + 1 + word.size() : word.size();
    lines += word;
  }
  return lines;
}

std::string reasons(const Deviations& deviations) {
  std::string text;
  for (const Deviation& each : deviations.all) {
    text += "\n### " + each.name + "\n\n" + wrapped(each.reason + ".") + "\n\n" +
            wrapped("Source: " + each.link) + "\n";
  }
  return text;
}

/// What other kernels than the one of the records show.
std::string kernels(const Deviations& deviations) {
  std::vector<BackendKind> newer = backend_kinds();
  std::erase_if(newer, [](const BackendKind& kind) { return !kind.is_newer_kernel; });
  std::string text = "| scenario |";
  std::string rule = "|---|";
  for (const BackendKind& kind : newer) {
    text += " " + std::string(kind.name) + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (const Scenario& scenario : scenarios()) {
    const auto differs = [&](const BackendKind& kind) {
      return deviations.find(scenario.full_name(), kind.name) != nullptr;
    };
    if (std::ranges::none_of(newer, differs)) continue;
    text += "| " + scenario.full_name() + " |";
    for (const BackendKind& kind : newer) text += " " + text_of(scenario, kind, deviations) + " |";
    text += "\n";
  }
  return text;
}

std::string abilities() {
  std::string text = "| n/a without | meaning |\n|---|---|\n";
  for (int i = 0; i <= static_cast<int>(kLastAbility); ++i) {
    const auto ability = static_cast<Ability>(i);
    text +=
        "| " + std::string(short_name(ability)) + " | " + std::string(to_string(ability)) + " |\n";
  }
  return text;
}

std::string iwarp_chapter(const Goldens& goldens, const Goldens& iwarp) {
  return R"(
## iWARP

This is how Debian's librdmacm on the software iWARP (siw) of kernel 6.1 differs from the records of
RoCE. Each party has a device. Only groups are listed whose every step iWARP supports. The scenarios
were recorded twice (`bazel run //tests/conformance:kernel_iwarp_test -- --write`). A difference
between the two recordings makes a scenario unsteady. The second table has the first difference of
each scenario; the complete recordings are in
[its records](../tests/conformance/records_iwarp). Our transports are not compared with them.

)" + iwarp_tables(goldens, iwarp);
}

}  // namespace

std::string drift_page(const Goldens& goldens, const Goldens& iwarp, const Deviations& deviations) {
  return "# Where the transports differ from Linux\n\n"
         "In which of " +
         std::to_string(scenarios().size()) +
         R"( scenarios does a transport differ from Linux, and why?

Each scenario is the same program on `<rdma/rdma_cma.h>` and `<infiniband/verbs.h>` everywhere. The
result of each call, and each event with its fields, is compared with
[its record](../tests/conformance/records). A difference fails the tests unless
[the table of deviations](../tests/conformance/deviations.json) lists and explains it.

The reference, in the last column, is Linux:

- Debian's librdmacm and libibverbs on Soft-RoCE of kernel 6.1, with none of our code in the process
  (linux). Where messages are lost or a link changes, it has two devices with a hub between them
  that drops messages on request.
- Where that kernel cannot show the behaviour, kernel 6.12, or the named function of Linux's source.
  Then the record is the simulator's.

Beside linux, the columns are our transports:

| column | transport |
|---|---|
| sim | the simulator |
| fabric | the same-host transport |
| ucma | our libraries over the kernel's connection manager |
| wire | a Linux server and a client of our own stack, RoCE v2 over UDP sockets |

`bazel run //tests/conformance:drift_test -- --write` generates this page. The test fails when it is
out of date.

)" + summary(deviations) +
         "\n" + matrix(goldens, deviations) + "\n" + abilities() + R"(
## Other kernels

Newer kernels, with the same librdmacm and libibverbs, differ from 6.1 in these scenarios: 6.12 of
Debian's backports, and the kernel of Debian unstable (7.2 when this was measured). `./dev kernels`
records them. For scenarios that only they support (atomic writes), 6.12 is the reference. Flushes
(IBV_WR_FLUSH) are not compared: their rxe has them, but Debian 12's libibverbs 44 has no call.

)" + kernels(deviations) +
         iwarp_chapter(goldens, iwarp) + "\n## Deviations\n" + reasons(deviations);
}

Lines misfits(const Goldens& goldens, const Deviations& deviations) {
  Lines lines;
  std::map<std::string, const Scenario*> known;
  for (const Scenario& scenario : scenarios()) {
    known[scenario.full_name()] = &scenario;
    if (!goldens.contains(scenario.full_name()))
      lines.push_back(scenario.full_name() + " has no record");
    for (const int fact : scenario.facts) {
      if (fact < 1 || fact > kFacts) {
        lines.push_back(scenario.full_name() +
                        " shows a fact that is none: " + std::to_string(fact));
      }
    }
  }
  for (const auto& [name, golden] : goldens) {
    if (!known.contains(name)) {
      lines.push_back("no such scenario, but a record: " + name);
    } else if (!is_of_a_kernel(golden) && source_of(name).empty()) {
      lines.push_back(name + " has no judge");
    }
  }
  for (const auto& [where, difference] : deviations.differences) {
    const auto& [name, backend] = where;
    if (lacking(*known.at(name), *find_backend_kind(backend)) != nullptr) {
      lines.push_back(name + " is listed, but never performed on " + backend);
    }
  }
  return lines;
}

}  // namespace anyrdma::conformance
