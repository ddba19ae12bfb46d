// The fuzz functions of the software HCA on real frames, on frames changed by chance and on random
// scripts, with a fixed start: they run everywhere, not only where libFuzzer does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "verbs/soft/fuzz/fuzz_connection.h"
#include "verbs/soft/device_profile.h"
#include "verbs/soft/fuzz/fuzz_datagram.h"
#include "verbs/soft/fuzz/fuzz_device_profile.h"
#include "verbs/soft/fuzz/fuzz_packet.h"
#include "verbs/soft/testing/fake_runtime.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::verbs::soft::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> capture_files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/captures"))
    if (entry.path().extension() == ".pcap") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return files;
}

/// Changes some bytes and cuts the end.
Bytes mutated(Bytes bytes, testing::FakeRandom& random) {
  if (random.below(3) == 0) bytes.resize(1 + random.below(bytes.size()));
  for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
    bytes[random.below(std::min<std::size_t>(bytes.size(), 90))] =
        static_cast<std::uint8_t>(random.next());
  }
  return bytes;
}

TEST(SoftFuzzReplay, PacketsAreWrittenAsTheyWereRead) {
  testing::FakeRandom random;
  for (const Bytes& file : capture_files()) {
    EXPECT_EQ(fuzz_packet(file.data(), file.size()), 0);
    const auto records = roce::pcap::parse(file);
    ASSERT_TRUE(records.has_value());
    for (const roce::pcap::Record& record : *records) {
      const Bytes frame(record.frame.begin(), record.frame.end());
      for (int i = 0; i < 20; ++i) {
        const Bytes changed = mutated(frame, random);
        fuzz_packet(changed.data(), changed.size());
        constexpr std::ptrdiff_t kUdpEnd = 42;
        constexpr std::ptrdiff_t kPayload = 66;  // udaddy: the kernel's routing header
        if (changed.size() > kPayload) fuzz_packet(&changed[kPayload], changed.size() - kPayload);
        if (changed.size() > kUdpEnd) fuzz_packet(&changed[kUdpEnd], changed.size() - kUdpEnd);
      }
    }
  }
}

TEST(SoftFuzzReplay, ConnectionsSurviveRandomScripts) {
  testing::FakeRandom random;
  for (int i = 0; i < 500; ++i) {
    Bytes script(1 + random.below(400));
    for (std::uint8_t& byte : script) byte = static_cast<std::uint8_t>(random.next());
    fuzz_connection(script.data(), script.size());
  }
}

TEST(SoftFuzzReplay, DatagramsSurviveRandomScripts) {
  testing::FakeRandom random;
  for (int i = 0; i < 500; ++i) {
    Bytes script(1 + random.below(400));
    for (std::uint8_t& byte : script) byte = static_cast<std::uint8_t>(random.next());
    fuzz_datagram(script.data(), script.size());
  }
}

TEST(SoftFuzzReplay, DeviceProfilesAreReadOrRefused) {
  testing::FakeRandom random;
  for (const std::string_view name : profile_names()) {
    const std::string text = "like " + std::string(name) + "\n" + to_string(*parse_profile(name));
    for (int i = 0; i < 2000; ++i) {
      const Bytes changed = mutated(Bytes(text.begin(), text.end()), random);
      fuzz_device_profile(changed.data(), changed.size());
    }
  }
}

TEST(SoftFuzzReplay, NothingIsWrongWithNothing) {
  EXPECT_EQ(fuzz_packet(nullptr, 0), 0);
  EXPECT_EQ(fuzz_connection(nullptr, 0), 0);
  EXPECT_EQ(fuzz_datagram(nullptr, 0), 0);
  EXPECT_EQ(fuzz_device_profile(nullptr, 0), 0);
}

}  // namespace
}  // namespace anyrdma::verbs::soft::fuzz
