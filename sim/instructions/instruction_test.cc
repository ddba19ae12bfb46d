// The judge is objdump(1) of binutils, which comes with every compiler.
#include "sim/instructions/instruction.h"

#include <gtest/gtest.h>
#include <stdio.h>  // NOLINT(modernize-deprecated-headers): popen

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::sim::instructions {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Line {
  std::string text;
  Bytes bytes;
  std::string name;  ///< with its prefixes
};

/// "  1234:\t0f 31 \trdtsc": nullopt for what is none.
bool parse(std::string_view text, Line& line) {
  const std::size_t first = text.find(":\t");
  if (text.empty() || text.front() != ' ' || first == text.npos) return false;
  const std::size_t second = text.find('\t', first + 2);
  if (second == text.npos) return false;
  line = {.text = std::string(text), .bytes = {}, .name = std::string(text.substr(second + 1))};
  const std::string hex(text.substr(first + 2, second - first - 2));
  for (std::size_t at = 0; at + 2 <= hex.size() && hex[at] != ' '; at += 3)
    line.bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(at, 2), nullptr, 16)));
  return !line.bytes.empty();
}

/// What objdump itself takes for no instruction, data among code; FWAIT, which it shows as one with
/// what follows.
bool is_odd(const Line& line) {
  if (line.bytes[0] == 0x9b && line.bytes.size() > 1) return true;
  for (const char* const mark : {"(bad)", ".byte", "rex"}) {
    if (line.name.find(mark) != std::string::npos) return true;
  }
  return line.name.find(' ') == std::string::npos && line.bytes.size() == 1 &&
         std::strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", line.bytes[0]) != nullptr;
}

struct Close {
  void operator()(FILE* file) const { ::pclose(file); }
};

class Files : public testing::TestWithParam<std::string> {};

TEST_P(Files, HaveInstructionsAsLongAsObjdumpHasThem) {
  const std::string command = "objdump -d -w '" + GetParam() + "'";
  const std::unique_ptr<FILE, Close> from(::popen(command.c_str(), "r"));
  ASSERT_NE(from, nullptr);
  std::array<char, 4096> text{};
  std::uint64_t count = 0;
  std::uint64_t wrong = 0;
  while (std::fgets(text.data(), text.size(), from.get()) != nullptr) {
    Line line;
    if (!parse(text.data(), line) || is_odd(line)) continue;
    ++count;
    const std::size_t length = line.bytes.size();
    line.bytes.insert(line.bytes.end(), 16, 0x90);  // as if others followed
    const Bytes whole(line.bytes.begin(), line.bytes.begin() + static_cast<long>(length));
    const Bytes less(whole.begin(), whole.end() - 1);
    const bool is_rdtsc = line.name.starts_with("rdtsc");
    const bool is_chance = line.name.starts_with("rdrand") || line.name.starts_with("rdseed");
    if (length_of(line.bytes) == length && length_of(less) == 0 &&
        reads_time_stamp(whole) == is_rdtsc && asks_for_chance(whole).has_value() == is_chance)
      continue;
    if (++wrong <= 10) ADD_FAILURE() << length_of(line.bytes) << " bytes: " << line.text;
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(count, 1000u) << "objdump(1) shows no code in " << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Installed, Files,
                         testing::Values("/proc/self/exe", "/lib64/ld-linux-x86-64.so.2",
                                         "/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/lib/x86_64-linux-gnu/libc.so.6",
                                         "/lib/x86_64-linux-gnu/libm.so.6", "/usr/bin/python3",
                                         "/usr/bin/ib_write_bw"));

TEST(Instruction, AsksForChanceInARegisterOfSomeWidth) {
  const auto target = [](const Bytes& code) { return asks_for_chance(code); };
  EXPECT_EQ(target({0x0f, 0xc7, 0xf0}), (Target{0, 4}));               // rdrand %eax
  EXPECT_EQ(target({0x0f, 0xc7, 0xfb}), (Target{3, 4}));               // rdseed %ebx
  EXPECT_EQ(target({0x48, 0x0f, 0xc7, 0xf1}), (Target{1, 8}));         // rdrand %rcx
  EXPECT_EQ(target({0x49, 0x0f, 0xc7, 0xff}), (Target{15, 8}));        // rdseed %r15
  EXPECT_EQ(target({0x66, 0x41, 0x0f, 0xc7, 0xf2}), (Target{10, 2}));  // rdrand %r10w
  EXPECT_EQ(target({0xf3, 0x0f, 0xc7, 0xf8}), std::nullopt);           // rdpid %rax
  EXPECT_EQ(target({0x0f, 0xc7, 0x0f}), std::nullopt);                 // cmpxchg8b (%rdi)
  EXPECT_EQ(target({0x0f, 0xc7}), std::nullopt);
  EXPECT_EQ(target({}), std::nullopt);
}

TEST(Instruction, AsksForTheProcessorInARegister) {
  const auto target = [](const Bytes& code) { return asks_for_processor(code); };
  EXPECT_EQ(target({0xf3, 0x0f, 0xc7, 0xf8}), (Target{0, 8}));         // rdpid %rax
  EXPECT_EQ(target({0xf3, 0x0f, 0xc7, 0xff}), (Target{7, 8}));         // rdpid %rdi
  EXPECT_EQ(target({0xf3, 0x41, 0x0f, 0xc7, 0xfa}), (Target{10, 8}));  // rdpid %r10
  EXPECT_EQ(target({0x0f, 0xc7, 0xf8}), std::nullopt);                 // rdseed %eax
  EXPECT_EQ(target({0xf3, 0x0f, 0xc7, 0x38}), std::nullopt);           // of memory
  EXPECT_EQ(target({0xf3, 0x0f, 0xc7}), std::nullopt);
  EXPECT_EQ(target({0xf3}), std::nullopt);
  EXPECT_EQ(target({}), std::nullopt);
}

TEST(Instruction, AsksForWhatTheProcessorIs) {
  EXPECT_TRUE(asks_for_identity(Bytes{0x0f, 0xa2}));
  EXPECT_FALSE(asks_for_identity(Bytes{0x0f, 0xa3}));
  EXPECT_FALSE(asks_for_identity(Bytes{0x0f}));
  EXPECT_FALSE(asks_for_identity(Bytes{}));
}

TEST(Instruction, IsNoneWhereItsPrefixesAreTooManyOrNothingFollows) {
  EXPECT_EQ(length_of({}), 0u);
  EXPECT_EQ(length_of(Bytes(16, 0x66)), 0u);
  EXPECT_EQ(length_of(Bytes(5, 0x66)), 0u);
  EXPECT_EQ(length_of(Bytes{0x06}), 0u);  // PUSH ES, in 32-bit mode
  EXPECT_EQ(length_of(Bytes{0x62, 0xf1}), 0u);
}

// Whatever stands there.
TEST(Instruction, IsNeverLongerThanWhatIsThereNorThanFifteenBytes) {
  Bytes code(24);
  std::uint64_t chance = 1;
  for (int round = 0; round < 200'000; ++round) {
    for (std::uint8_t& byte : code) {
      chance = chance * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<std::uint8_t>(chance >> 56);
    }
    const std::size_t size = static_cast<std::size_t>(round) % code.size();
    const std::size_t length = length_of(std::span(code).first(size));
    ASSERT_LE(length, std::min<std::size_t>(size, 15));
  }
}

}  // namespace
}  // namespace anyrdma::sim::instructions
