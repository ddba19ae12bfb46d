// Scenarios: what is the same application code on every transport, with a name. Include this.
//
// A scenario is a straight-line script that makes the calls of both sides in turn; nothing in it
// asserts or branches, because every call and event is recorded, and the record is compared with
// what the kernel showed (records/) and the table of deviations.
//
//   SCENARIO(disconnect, from_the_client, .facts = {25}) {
//     Connection pair = stage.connect();
//     pair.active.disconnect();
//     server.take();                              // DISCONNECTED
//     pair.passive.disconnect();
//     client.take();                              // DISCONNECTED
//     client.take({.at_least = 400ms, .at_most = 20s});  // TIMEWAIT_EXIT
//   }
//
// What belongs to verbs alone has endpoint.h.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/stage.h"

namespace anyrdma::conformance {

struct Scenario {
  std::string_view group;
  std::string_view name;  ///< what is special about it, in lower case
  void (*body)(Stage& stage, Party& server, Party& client);
  /// The facts of docs/facts.md that it shows.
  std::vector<int> facts{};
  std::set<Ability> needs{};
  /// Takes more than 20 seconds of real time.
  bool slow = false;

  [[nodiscard]] std::string full_name() const {
    return std::string(group) + "/" + std::string(name);
  }
};

/// All that are linked in, by group and name.
[[nodiscard]] const std::vector<Scenario>& scenarios();
/// For SCENARIO.
bool add_scenario(Scenario scenario);

// NOLINTBEGIN(bugprone-macro-parentheses): names and designated initializers
#define SCENARIO(GROUP, NAME, ...)                                                              \
  static void GROUP##_##NAME(::anyrdma::conformance::Stage& stage,                              \
                             ::anyrdma::conformance::Party& server,                             \
                             ::anyrdma::conformance::Party& client);                            \
  [[maybe_unused]] static const bool GROUP##_##NAME##_added =                                   \
      ::anyrdma::conformance::add_scenario(                                                     \
          {.group = #GROUP, .name = #NAME, .body = GROUP##_##NAME __VA_OPT__(, ) __VA_ARGS__}); \
  static void GROUP##_##NAME([[maybe_unused]] ::anyrdma::conformance::Stage& stage,             \
                             [[maybe_unused]] ::anyrdma::conformance::Party& server,            \
                             [[maybe_unused]] ::anyrdma::conformance::Party& client)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace anyrdma::conformance
