// Writes a run for other people's programs into a directory, and what they should find in it.
#include <cstdio>
#include <fstream>
#include <string>

#include "recording/view/pcapng.h"
#include "recording/view/perfetto.h"
#include "tests/recording/recorded.h"

namespace anyrdma::tests {
namespace {

using recording::Record;
using recording::RecordKind;

void write(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
}

/// As somebody counts who knows nothing of the formats.
std::string counts(const recording::Story& story) {
  std::size_t slices = 0;
  std::size_t instants = 0;
  std::size_t flows = 0;
  std::size_t messages = 0;
  for (const Record& each : story.records) {
    const bool lasts = each.kind == RecordKind::kState || each.kind == RecordKind::kWait;
    const bool flows_on = (each.kind == RecordKind::kMessage && each.arrives && each.to) ||
                          (each.kind == RecordKind::kEvent && each.fetched);
    messages += each.kind == RecordKind::kMessage ? 1 : 0;
    slices += lasts ? 1 : 0;
    flows += flows_on ? 1 : 0;
    instants += lasts ? 0 : flows_on ? 2 : 1;
  }
  return "tracks " + std::to_string(story.lanes.size()) + "\nslices " + std::to_string(slices) +
         "\ninstants " + std::to_string(instants) + "\nflows " + std::to_string(flows) +
         "\nmessages " + std::to_string(messages) + "\nhash " + story.hash + "\n";
}

}  // namespace
}  // namespace anyrdma::tests

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string directory = argv[1];
  const anyrdma::tests::RecordedRun run = anyrdma::tests::record_clean_run(
      8, "on client->server REQ 1: lose\non client->server packet 6: delay 5ms\n");
  anyrdma::tests::write(directory + "/run.pcapng", anyrdma::recording::pcapng_of(run.story));
  anyrdma::tests::write(directory + "/run.perfetto", anyrdma::recording::perfetto_of(run.story));
  std::ofstream(directory + "/counts") << anyrdma::tests::counts(run.story);
  return 0;
}
