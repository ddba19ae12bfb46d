#include "sim/instructions/sites.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// What is to be found in this very program, and what is not: names that dlsym(3) need not know.
extern "C" {
std::uint64_t read_counter_for_test();
std::uint64_t read_counter_and_processor_for_test();
std::uint64_t say_the_same_bytes_for_test();
std::uint64_t ask_for_chance_for_test();
}

// The second and the third one have the bytes of an RDTSC in a constant, too.
asm(R"(
  .text
  .type read_counter_for_test, @function
read_counter_for_test:
  .cfi_startproc
  nop
  rdtsc
  ret
  .cfi_endproc
  .type read_counter_and_processor_for_test, @function
read_counter_and_processor_for_test:
  .cfi_startproc
  movl $0xf9010f31, %eax
  rdtscp
  ret
  .cfi_endproc
  .type say_the_same_bytes_for_test, @function
say_the_same_bytes_for_test:
  .cfi_startproc
  movabsq $0x31f9010f310f9090, %rax
  ret
  .cfi_endproc
  .type ask_for_chance_for_test, @function
ask_for_chance_for_test:
  .cfi_startproc
  nop
  rdrand %r10
  rdseed %bx
  movl $0xf0c70f90, %eax
  ret
  .cfi_endproc
)");

namespace anyrdma::sim::instructions {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

/// Closed at its end.
class Open {
 public:
  explicit Open(int fd) : fd_(fd) {}
  ~Open() {
    if (fd_ >= 0) ::close(fd_);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::vector<Site> sites_of(const char* path) {
  const Open file(::open(path, O_RDONLY | O_CLOEXEC));
  EXPECT_GE(file.get(), 0) << path;
  return sites_in(file.get());
}

/// What stands at an offset of this program's file.
std::array<std::uint8_t, 3> bytes_at(std::uint64_t offset) {
  const Open file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  std::array<std::uint8_t, 3> bytes{};
  EXPECT_EQ(::pread(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)), 3);
  return bytes;
}

/// Where in this program's file a function stands.
std::uint64_t offset_of(std::uint64_t (*function)()) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::uint64_t found = 0;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), line.size(), maps) != nullptr) {
    if (std::sscanf(line.data(), "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
        begin <= address && address < end)
      found = address - begin + offset;
  }
  std::fclose(maps);
  return found;
}

TEST(Sites, AreTheInstructionsOfThisProgram) {
  const auto sites = sites_of("/proc/self/exe");
  EXPECT_THAT(sites, Contains(Site{offset_of(read_counter_for_test) + 1, 2}));
  EXPECT_THAT(sites, Contains(Site{offset_of(read_counter_and_processor_for_test) + 5, 3}));
}

TEST(Sites, AreWhatAsksForChance) {
  const std::uint64_t function = offset_of(ask_for_chance_for_test);
  std::vector<Site> there;
  for (const Site& site : sites_of("/proc/self/exe")) {
    if (site.offset >= function && site.offset < function + 15) there.push_back(site);
  }
  EXPECT_THAT(there, ElementsAre(Site{function + 1, 4, Site::Kind::kChance, Target{10, 8}},
                                 Site{function + 5, 4, Site::Kind::kChance, Target{3, 2}}));
}

TEST(Sites, AreNotTheSameBytesWithinAnotherInstruction) {
  const std::uint64_t function = offset_of(say_the_same_bytes_for_test);
  ASSERT_EQ(bytes_at(function + 4)[0], 0x0f) << "they stand there";
  for (const Site& site : sites_of("/proc/self/exe")) {
    EXPECT_FALSE(site.offset >= function && site.offset < function + 11) << site.offset - function;
    EXPECT_NE(site.offset, offset_of(read_counter_and_processor_for_test) + 2);
  }
}

TEST(Sites, AreInTheLoaderThatCountsItsOwnTime) {
  EXPECT_THAT(sites_of("/lib64/ld-linux-x86-64.so.2"), Not(IsEmpty()));
}

TEST(Sites, AreNoneWhereThereIsNoProgram) {
  EXPECT_THAT(sites_in(-1), IsEmpty());
  EXPECT_THAT(sites_of("/etc/passwd"), IsEmpty());
  EXPECT_THAT(sites_of("/dev/null"), IsEmpty());
  EXPECT_THAT(sites_of("/"), IsEmpty());
}

// As a file may be that somebody is writing, or that is made to be wrong.
TEST(Sites, AreLookedForInBrokenFilesWithoutHarm) {
  const Open whole(::open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC));
  std::vector<char> bytes(std::size_t{256} << 10);
  const ssize_t size = ::read(whole.get(), bytes.data(), bytes.size());
  ASSERT_GT(size, 4096);
  bytes.resize(static_cast<std::size_t>(size));
  std::uint64_t chance = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<char> broken = bytes;
    for (int i = 0; i < 20; ++i) {
      chance = chance * 6364136223846793005u + 1442695040888963407u;
      // Most of it where the file says what is where.
      const std::size_t range = i % 2 == 0 ? 1024 : broken.size();
      broken[(chance >> 33) % range] = static_cast<char>(chance >> 25);
    }
    if (round % 4 == 0) broken.resize((chance >> 33) % broken.size());
    const Open file(::memfd_create("broken", MFD_CLOEXEC));
    ASSERT_EQ(::write(file.get(), broken.data(), broken.size()),
              static_cast<ssize_t>(broken.size()));
    for (const Site& site : sites_in(file.get()))
      EXPECT_LE(site.offset + site.length, broken.size());
  }
}

}  // namespace
}  // namespace anyrdma::sim::instructions
