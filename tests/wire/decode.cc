// decode FILE.pcap: one line of JSON for each frame, what our codecs read in it.
// decode --check FILE.pcap: fails unless all RoCE packets are whole and their ICRCs right; says how
// many. decode --run DIRECTORY: makes simulated runs, each a DIRECTORY/NAME.pcap with its
// NAME.trace.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "examples/scenario.h"
#include "tests/wire/fields.h"
#include "verbs/soft/frame.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/headers.h"
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

std::vector<std::uint8_t> read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Views into `file`.
std::vector<roce::pcap::Record> records_of(const std::vector<std::uint8_t>& file,
                                           const char* path) {
  auto records = roce::pcap::parse(file);
  if (!records) throw std::runtime_error(std::string(path) + " is no capture");
  return std::move(*records);
}

void decode(const char* path) {
  const std::vector<std::uint8_t> file = read(path);
  for (const auto& record : records_of(file, path))
    std::puts(fields_of(record.frame).json().c_str());
}

bool check(const char* path) {
  const std::vector<std::uint8_t> file = read(path);
  const auto records = records_of(file, path);
  verbs::soft::PacketPool pool;
  int packets = 0;
  int bad = 0;
  for (const auto& record : records) {
    const verbs::soft::PacketPtr packet = pool.take();
    const roce::FrameError error = roce::from_frame(record.frame, *packet);
    if (error == roce::FrameError::kNotIp || error == roce::FrameError::kNotRoce) continue;
    ++packets;
    const bool good = error == roce::FrameError::kNone && roce::icrc_ok(*packet) &&
                      roce::decode(packet->payload()).error == roce::DecodeError::kNone;
    bad += good ? 0 : 1;
  }
  std::printf("%d packets, %d bad\n", packets, bad);
  return packets > 0 && bad == 0;
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
  } else if (argc == 3 && std::string(argv[1]) == "--check") {
    return anyrdma::tests::check(argv[2]) ? 0 : 1;
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
