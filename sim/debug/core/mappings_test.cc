#include "sim/debug/core/mappings.h"

#include <gmock/gmock.h>

namespace anyrdma::sim::debug {
namespace {

Mapping one(std::string_view head, std::string_view details = "") {
  const auto all = parse_mappings(std::string(head) + "\n" + std::string(details));
  return all.size() == 1 ? all.front() : Mapping{};
}

TEST(Mappings, AreReadWithTheirDetails) {
  const auto all = parse_mappings(
      "55e0a000-55e0c000 r--p 00001000 08:01 123                        /opt/a program (deleted)\n"
      "Size:                  8 kB\n"
      "Rss:                   4 kB\n"
      "Anonymous:             4 kB\n"
      "VmFlags: rd mr mw me dd sd\n"
      "7f00-7f01 rw-s 00000000 00:00 0\n"
      "Rss:                   0 kB\n"
      "VmFlags: rd ddx\n");

  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].begin, 0x55e0a000u);
  EXPECT_EQ(all[0].end, 0x55e0c000u);
  EXPECT_EQ(all[0].offset, 0x1000u);
  EXPECT_EQ(all[0].inode, 123u);
  EXPECT_EQ(all[0].path, "/opt/a program (deleted)");
  EXPECT_TRUE(all[0].readable && all[0].touched && all[0].changed && all[0].omitted);
  EXPECT_FALSE(all[0].writable || all[0].executable || all[0].shared);
  EXPECT_TRUE(all[1].readable && all[1].writable && all[1].shared);
  EXPECT_FALSE(all[1].touched || all[1].changed || all[1].omitted);
  EXPECT_EQ(all[1].path, "");
}

TEST(Mappings, OtherLinesAreLeftOut) {
  EXPECT_TRUE(parse_mappings("").empty());
  EXPECT_TRUE(parse_mappings("Rss: 4 kB\nnothing\n-\n").empty());
  EXPECT_TRUE(parse_mappings("2000-1000 rw-p 00000000 00:00 0\n").empty());
  EXPECT_TRUE(parse_mappings("1000-2000 rw 00000000 00:00 0\n").empty());
}

TEST(Mappings, WhatAProgramCanChangeIsKept) {
  EXPECT_EQ(kept_of(one("1000-2000 rw-p 0 00:00 0")), Kept::kAll);
  EXPECT_EQ(kept_of(one("1000-2000 rw-p 3000 08:01 7 /lib/x")), Kept::kAll);
  EXPECT_EQ(kept_of(one("1000-2000 r--s 0 00:01 7 /dev/shm/x")), Kept::kAll);
}

TEST(Mappings, DataThatBecameReadOnlyIsKept) {
  EXPECT_EQ(kept_of(one("1000-2000 r--p 3000 08:01 7 /lib/x", "Anonymous: 4 kB\n")), Kept::kAll);
}

TEST(Mappings, CodeAndConstantsOfFilesAreLeftToTheFiles) {
  EXPECT_EQ(kept_of(one("1000-2000 r-xp 1000 08:01 7 /lib/x", "Anonymous: 4 kB\n")),
            Kept::kNothing);
  EXPECT_EQ(kept_of(one("1000-2000 r--p 3000 08:01 7 /lib/x")), Kept::kNothing);
}

TEST(Mappings, TheBeginningOfAFileSaysWhichOneItIs) {
  EXPECT_EQ(kept_of(one("1000-9000 r--p 0 08:01 7 /lib/x")), Kept::kHeader);
}

TEST(Mappings, WhatCannotBeReadOrIsNotWantedIsLeftOut) {
  EXPECT_EQ(kept_of(one("1000-2000 ---p 0 00:00 0")), Kept::kNothing);
  EXPECT_EQ(kept_of(one("1000-2000 rw-p 0 00:00 0", "VmFlags: rd wr dd\n")), Kept::kNothing);
  EXPECT_EQ(kept_of(one("1000-2000 r--p 0 00:00 0 [vvar]", "VmFlags: rd io pf\n")), Kept::kNothing);
}

}  // namespace
}  // namespace anyrdma::sim::debug
