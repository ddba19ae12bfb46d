#include "recording/view/join_messages.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace anyrdma::recording {
namespace {

using verbs::Duration;

/// Nothing repeats a message sooner, and nothing is under way for longer but by a fault.
constexpr Duration kUnderWayMost = std::chrono::milliseconds(100);

/// Both GIDs, and what the wire shows behind UDP's header: its source port is the socket's.
using Likeness = std::pair<std::string_view, std::string_view>;

struct Seen {
  Duration time{};
  MessageOf message{};
  bool taken = false;
};

struct Alike {
  std::vector<Seen> left;
  std::size_t first = 0;  ///< of `left` that is not taken
  std::vector<Seen> came;
};

/// Those that a fault has lost at home never came to anybody.
std::set<std::uint64_t> lost_in(const ProcessFile& file) {
  std::set<std::uint64_t> lost;
  for (const Entry& entry : file.entries) {
    if (entry.kind == EntryKind::kLost) lost.insert(entry.numbers[0]);
  }
  return lost;
}

Seen* departure_of(const Seen& came, Alike& alike, Duration inexact) {
  while (alike.first < alike.left.size() && alike.left[alike.first].taken) ++alike.first;
  Seen* best = nullptr;
  for (std::size_t i = alike.first; i < alike.left.size(); ++i) {
    Seen& each = alike.left[i];
    if (each.time > came.time + inexact) break;
    if (each.taken || each.message.first == came.message.first) continue;
    if (best != nullptr && came.time - best->time <= kUnderWayMost) break;
    best = &each;
  }
  return best;
}

}  // namespace

JoinedMessages join_messages(std::span<const ProcessFile> files, Duration inexact) {
  std::map<Likeness, Alike> all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ProcessFile& file = files[i];
    const std::set<std::uint64_t> lost = lost_in(file);
    for (std::size_t m = 0; m < file.messages.size(); ++m) {
      const Entry& entry = file.entries[file.messages[m]];
      const bool leaves = file.leaves(entry) && !lost.contains(m);
      if (!leaves && !file.comes(entry)) continue;
      Alike& alike = all[{entry.texts[0], entry.texts[1]}];
      (leaves ? alike.left : alike.came)
          .push_back({.time = file.time_of(entry), .message = {i, m}});
    }
  }
  JoinedMessages joined;
  for (auto& [likeness, alike] : all) {
    std::ranges::stable_sort(alike.left, {}, &Seen::time);
    std::ranges::stable_sort(alike.came, {}, &Seen::time);
    for (const Seen& came : alike.came) {
      Seen* const left = departure_of(came, alike, inexact);
      if (left == nullptr) continue;
      left->taken = true;
      joined.departure[came.message] = left->message;
      joined.arrival[left->message] = came.message;
    }
  }
  return joined;
}

}  // namespace anyrdma::recording
