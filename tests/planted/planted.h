// Bugs that are put into copies of production sources on purpose: see plant.py and docs/planted.md.
#pragma once

#include <span>
#include <string_view>

namespace anyrdma::planted {

struct Bug {
  std::string_view name;
  std::string_view file;
  std::string_view what;
  std::string_view test;  ///< the one that finds it
  std::string_view says;  ///< what is part of that test's complaint
  int runs;               ///< at most so many of that test's runs until then
};
/// All of tests/planted/bugs. A bug's number is its place, from 1.
[[nodiscard]] std::span<const Bug> bugs();

/// The number of the one that is switched on in this process; 0: none.
inline int active = 0;
/// How often its place was come by.
inline long reached = 0;

/// For the copies.
[[nodiscard]] inline bool is_on(int bug) {
  if (active != bug) [[likely]]
    return false;
  ++reached;
  return true;
}

}  // namespace anyrdma::planted
