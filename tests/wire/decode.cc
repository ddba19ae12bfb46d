// decode FILE.pcap: one line of JSON for each frame, what our codecs read in it.
// decode --run DIRECTORY: makes simulated runs, each a DIRECTORY/NAME.pcap with its NAME.trace.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/scenario.h"
#include "tests/wire/fields.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::tests {
namespace {

struct Run {
  const char* name;
  const char* plan;
};
constexpr Run kRuns[] = {
    {"clean", ""},
    {"reject", "on server request 1: reject 28 6e6f\n"},
    {"lost-req", "on client->server REQ all: lose\n"},
    {"lost-rtu", "on client->server RTU 1: lose\n"},
};

void decode(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(in), {}};
  const auto records = roce::pcap::parse(file);
  if (!records) throw std::runtime_error(std::string(path) + " is no capture");
  for (const auto& record : *records) std::puts(fields_of(record.frame).json().c_str());
}

void simulate(const std::string& directory) {
  for (const Run& run : kRuns) {
    sim::WorldOptions options;
    options.capture = true;
    const auto outcome = examples::run_conversation(7, run.plan, options);
    if (!outcome.unfired.empty()) throw std::runtime_error("unfired: " + outcome.unfired[0]);
    const std::string stem = directory + "/" + run.name;
    std::ofstream(stem + ".pcap", std::ios::binary)
        .write(reinterpret_cast<const char*>(outcome.capture.data()),
               static_cast<std::streamsize>(outcome.capture.size()));
    std::ofstream(stem + ".trace") << outcome.trace;
  }
}

}  // namespace
}  // namespace anyrdma::tests

int main(int argc, char** argv) try {
  if (argc == 3 && std::string(argv[1]) == "--run") {
    anyrdma::tests::simulate(argv[2]);
  } else if (argc == 2) {
    anyrdma::tests::decode(argv[1]);
  } else {
    return 2;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "decode: %s\n", error.what());
  return 1;
}
