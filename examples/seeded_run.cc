// A seeded run of two simulated hosts: clean, then with each of four faults. Every run is made
// twice; the traces must be the same, and every planned fault must have happened.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "examples/scenario.h"

namespace {

using anyrdma::examples::Entry;
using anyrdma::examples::Outcome;
using anyrdma::examples::run_conversation;

struct Wishes {
  std::uint64_t seed = 7;
  std::string record{};  ///< a directory for a recording of each run; empty: none
};

struct Chapter {
  const char* title;
  const char* shows;
  const char* plan;  ///< see transport/fault/plan/fault_plan.h
};

constexpr Chapter kChapters[] = {
    {"clean",
     "They connect, send, RDMA READ and RDMA WRITE; a second later the client disconnects.", ""},
    {"reject", "The server's CM refuses the request: the client learns the reason and two bytes.",
     "on server request 1: reject 28 6e6f\n"},
    {"lost REQ", "No repetition of the REQ arrives: the client waits as long as Linux 6.1 would.",
     "on client->server REQ all: lose\n"},
    {"device removal",
     "The server's RDMA device is pulled out: its ids are told, and the connection ends.",
     "at 500ms: remove server anyrdma0\n"},
    {"address change",
     "The server's bonded interface fails over: its ids are told, and so is the client's.",
     "at 500ms: fail-over server eth0\n"},
};

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

Outcome timed_run(std::uint64_t seed, const char* plan, const std::string& record, double& wall) {
  const auto begin = std::chrono::steady_clock::now();
  anyrdma::sim::WorldOptions options;
  options.tracing = anyrdma::sim::Tracing::kHash;
  options.record = record;
  options.link.jitter = std::chrono::microseconds(1);  // so that a seed shows in the times, too
  Outcome outcome = run_conversation(seed, plan, options);
  wall = seconds(std::chrono::steady_clock::now() - begin);
  return outcome;
}

void print_diary(const Outcome& outcome) {
  for (const char* host : {"client", "server"}) {
    const char* label = host;
    for (const Entry& entry : outcome.diary) {
      if (entry.host != host) continue;
      std::printf("  %-7s %13.6f s  %s\n", label, seconds(entry.when.time_since_epoch()),
                  entry.what.c_str());
      label = "";
    }
  }
}

/// "lost-REQ.recording", in a directory; empty if that is.
std::string recording_of(const Chapter& chapter, const std::string& directory) {
  if (directory.empty()) return {};
  std::string name = chapter.title;
  std::replace(name.begin(), name.end(), ' ', '-');
  return directory + "/" + name + ".recording";
}

/// Runs a chapter twice and prints it. False: it did not show what it should.
bool show(const Chapter& chapter, int number, const Wishes& wishes) {
  std::printf("\n%d. %s: %s\n", number, chapter.title, chapter.shows);
  std::printf("  plan    %s", *chapter.plan == 0 ? "(no fault)\n" : chapter.plan);
  double wall = 0;
  double again_wall = 0;
  const std::string record = recording_of(chapter, wishes.record);
  const Outcome first = timed_run(wishes.seed, chapter.plan, record, wall);
  const Outcome again = timed_run(wishes.seed, chapter.plan, {}, again_wall);
  print_diary(first);
  const auto last = first.diary.empty() ? anyrdma::sim::Instant{} : first.diary.back().when;
  std::printf("  took    %13.6f s of virtual time, %.1f ms of real time, %" PRIu64 " packets\n",
              seconds(last.time_since_epoch()), wall * 1e3, first.packets);
  const bool same = first.trace_hash == again.trace_hash;
  std::printf("  trace   %016" PRIx64 ", again %016" PRIx64 ": %s\n", first.trace_hash,
              again.trace_hash, same ? "the same" : "THEY DIFFER");
  for (const auto& fault : first.unfired) {
    std::printf("  THIS FAULT DID NOT HAPPEN: %s\n", fault.c_str());
  }
  return same && first.unfired.empty();
}

std::optional<Wishes> wishes_from(int argc, char** argv) {
  Wishes wishes;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return std::nullopt;
    const std::string_view option = argv[i];
    const std::string_view text = argv[i + 1];
    if (option == "--record") {
      wishes.record = text;
      continue;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wishes.seed);
    if (option != "--seed" || error != std::errc() || end != text.data() + text.size())
      return std::nullopt;
  }
  return wishes;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto wishes = wishes_from(argc, argv);
  if (!wishes) {
    std::fprintf(stderr, "usage: %s [--seed N] [--record DIR]\n", argv[0]);
    return 2;
  }
  std::printf("Two simulated hosts, client 10.0.0.2 and server 10.0.0.1, seed %" PRIu64
              "; each run is made twice.\n",
              wishes->seed);
  int number = 0;
  int failed = 0;
  for (const Chapter& chapter : kChapters) {
    if (!show(chapter, ++number, *wishes)) ++failed;
  }
  std::printf("\n%d runs, %d with the same trace twice and every planned fault.\n", number,
              number - failed);
  return failed == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "seeded_run: %s\n", error.what());
  return 1;
}
