#include "tools/bundle/archive.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "tools/bundle/manifest.h"

namespace anyrdma::tools {
namespace {

using testing::HasSubstr;

std::filesystem::path place(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / name;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string archive_of(const std::map<std::string, std::string>& files) {
  ArchiveWriter writer(place("archive.tar"));
  for (const auto& [name, content] : files) writer.add(name, content, name == "a/run");
  EXPECT_TRUE(writer.finish());
  return bytes_of(place("archive.tar"));
}

/// The files by name, or the error.
std::string read(const std::string& bytes, std::map<std::string, std::string>* files = nullptr) {
  std::istringstream in(bytes);
  std::map<std::string, std::string> all;
  std::string last;
  const auto count = read_archive(in, {.begin =
                                           [&](const ArchivedFile& file) {
                                             last = file.name;
                                             all[last] = file.executable ? "x:" : "";
                                             return true;
                                           },
                                       .content =
                                           [&](std::string_view piece) {
                                             all[last] += piece;
                                             return true;
                                           }});
  if (files != nullptr) *files = all;
  return count ? "" : count.error().sentence;
}

TEST(Archive, GivesBackWhatWasWritten) {
  const std::string large(100'001, 'l');
  std::map<std::string, std::string> files;

  EXPECT_EQ(read(archive_of({{"a/run", "one"}, {"b", ""}, {"c/d/e", large}}), &files), "");

  EXPECT_EQ(files,
            (std::map<std::string, std::string>{{"a/run", "x:one"}, {"b", ""}, {"c/d/e", large}}));
}

TEST(Archive, IsReadByTar) {
  (void)archive_of({{"a/run", "one"}, {"b", "two"}});
  const std::string command =
      "cd " + testing::TempDir() + " && rm -rf u && mkdir u && tar -xf archive.tar -C u";

  ASSERT_EQ(std::system(command.c_str()), 0);

  EXPECT_EQ(bytes_of(place("u/a/run")), "one");
  EXPECT_EQ(bytes_of(place("u/b")), "two");
}

TEST(Archive, OfTarIsRead) {
  std::filesystem::create_directories(place("packed/sub"));
  std::ofstream(place("packed/sub/file")) << "text";
  const std::string command = "cd " + testing::TempDir() + " && tar -cf packed.tar -C packed .";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::map<std::string, std::string> files;

  EXPECT_EQ(read(bytes_of(place("packed.tar")), &files), "");

  EXPECT_EQ(files, (std::map<std::string, std::string>{{"sub/file", "text"}}));
}

TEST(Archive, ThatIsCutIsRefused) {
  const std::string whole = archive_of({{"a", "one"}, {"b", std::string(1000, 'b')}});
  for (std::size_t size = 0; size < whole.size() - 1024; size += 37)
    EXPECT_THAT(read(whole.substr(0, size)), HasSubstr("ends early")) << size;
}

TEST(Archive, WithAnotherBitIsRefused) {
  std::string bytes = archive_of({{"a", "one"}});
  bytes[3] = 'x';
  EXPECT_THAT(read(bytes), HasSubstr("was damaged"));
  EXPECT_THAT(read(std::string(2048, 'n')), HasSubstr("no tar archive"));
}

TEST(Archive, NamesStayInside) {
  for (const char* const name : {"/etc/passwd", "../x", "a/../../x", "", ".", "a//b", "a/", "x\n"})
    EXPECT_FALSE(is_archive_name(name)) << name;
  EXPECT_FALSE(is_archive_name(std::string(101, 'a')));
  for (const char* const name : {"a", "a/b", "..a", "a..", "a/...", "a b"})
    EXPECT_TRUE(is_archive_name(name)) << name;
  EXPECT_THAT(read(archive_of({{"../out", "x"}})), HasSubstr("leads out"));
  EXPECT_THAT(read(archive_of({{"/out", "x"}})), HasSubstr("leads out"));
}

TEST(Archive, IsNotUnpackedOverFiles) {
  ArchiveWriter writer(place("twice.tar"));
  writer.add("a", "one");
  writer.add("a", "two");
  ASSERT_TRUE(writer.finish());
  std::filesystem::remove_all(place("twice"));
  std::filesystem::create_directory(place("twice"));

  EXPECT_THAT(unpack_archive(place("twice.tar"), place("twice")), HasSubstr("'a' is in it twice"));
  EXPECT_THAT(unpack_archive(place("none.tar"), place("twice")), HasSubstr("cannot be read"));
}

TEST(Archive, IsKnownByItsBeginning) {
  (void)archive_of({{"a", "one"}});
  EXPECT_TRUE(is_archive(place("archive.tar")));
  EXPECT_FALSE(is_archive(testing::TempDir()));
  EXPECT_FALSE(is_archive(place("nothing")));
}

Manifest full() {
  return {.writer = "anyrdma 1",
          .scenario = "scenario/pp.txt",
          .trial = "seed 7; schedule/2 random",
          .buffered = true,
          .strict = true,
          .hash = 0x421ab696609f35a1,
          .programs = {{"./my program", "content:12", "programs/0/x"}},
          .inputs = {{"in put", "content:13", "input/0/y"}},
          .libraries = {{"/usr/lib/l ib.so", "build-id:6e6f"}}};
}

TEST(Manifest, IsReadAsItWasWritten) {
  const auto read = Manifest::parse(full().to_text());

  ASSERT_TRUE(read) << read.error().sentence;
  EXPECT_EQ(read->to_text(), full().to_text());
  EXPECT_EQ(read->programs.front().path, "./my program");
  EXPECT_EQ(read->libraries.front().path, "/usr/lib/l ib.so");
}

TEST(Manifest, IsRefusedByTheLine) {
  const std::string text = full().to_text();
  EXPECT_THAT(Manifest::parse("").error().sentence, HasSubstr("line 1 "));
  EXPECT_THAT(Manifest::parse("anyrdma bundle 2\n").error().sentence, HasSubstr("line 1 "));
  for (const char* const wrong :
       {"colour red", "hash 12", "program a ../b c", "program a b", "option fast", "library x",
        "scenario /etc/passwd", "input content:1 input/0/z again"})
    EXPECT_THAT(Manifest::parse(text + wrong).error().sentence, HasSubstr("is not understood"))
        << wrong;
}

TEST(FileId, IsTheBuildIdOrAHashOfTheContent) {
  std::ofstream(place("plain")) << "text";
  std::ofstream(place("other")) << "texu";
  EXPECT_THAT(file_id(place("plain")), HasSubstr("content:"));
  EXPECT_NE(file_id(place("plain")), file_id(place("other")));
  EXPECT_EQ(file_id(place("nowhere")), "");
  EXPECT_THAT(file_id("/proc/self/exe"),
              testing::AnyOf(HasSubstr("build-id:"), HasSubstr("content:")));
  EXPECT_THAT(file_id("/bin/sh"), HasSubstr("build-id:"));
}

}  // namespace
}  // namespace anyrdma::tools
