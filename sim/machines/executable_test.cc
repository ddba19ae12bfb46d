#include "sim/machines/executable.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace anyrdma::sim {
namespace {

class Program : public ::testing::Test {
 protected:
  Program() { std::filesystem::create_directories(folder); }
  ~Program() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] std::string make(const std::string& name, mode_t mode,
                                 const std::string& content = "#!/bin/sh\n") const {
    std::string path = folder + "/" + name;
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  std::string folder = ::testing::TempDir() + "anyrdma-program-test";
};

TEST_F(Program, IsFoundAlongTheSearchPath) {
  const std::string path = make("one", 0755);

  EXPECT_EQ(find_program("one", "/nowhere:" + folder).value(), path);
  EXPECT_EQ(find_program(path, "").value(), path);
}

TEST_F(Program, ThatIsNowhereIsEnoent) {
  EXPECT_EQ(find_program("none", folder).error().value(), ENOENT);
  EXPECT_EQ(find_program(folder + "/none", folder).error().value(), ENOENT);
  EXPECT_EQ(find_program("", folder).error().value(), ENOENT);
}

TEST_F(Program, ThatMayNotBeExecutedIsEacces) {
  const std::string path = make("plain", 0644);

  EXPECT_EQ(find_program("plain", folder).error().value(), EACCES);
  EXPECT_EQ(find_program(path, "").error().value(), EACCES);
  EXPECT_EQ(find_program(folder, "").error().value(), EACCES);
}

TEST_F(Program, ThatIsNotFoundHasASentenceWithTheRemedy) {
  const auto said = [](const std::string& name, int error) {
    return why_not_found(name, verbs::errno_code(error));
  };
  EXPECT_EQ(said("./here", EACCES),
            "'./here' is not executable. Make it so (chmod +x), or name another program.");
  EXPECT_EQ(said("./here", ENOENT), "there is no file './here'. Check the path.");
  EXPECT_TRUE(said("here", ENOENT).starts_with("there is no program 'here' in PATH. Check"));
}

TEST_F(Program, ThatTheSystemDoesNotStartHasASentenceWithTheRemedy) {
  const auto said = [](int error) { return why_not_started("/bin/a", verbs::errno_code(error)); };
  EXPECT_EQ(said(ENOEXEC), "'/bin/a' cannot be started: Exec format error.");
  for (const int error : {EPERM, ENOSYS})
    EXPECT_NE(said(error).find("--cap-add SYS_PTRACE"), std::string::npos) << error;
  EXPECT_NE(said(EMFILE).find("ulimit -n"), std::string::npos);
  EXPECT_NE(said(EAGAIN).find("ulimit -u"), std::string::npos);
  EXPECT_NE(said(ENOMEM).find("ulimit -v"), std::string::npos);
}

TEST_F(Program, FoundLaterOnThePathWinsOverAnUnusableOne) {
  (void)make("two", 0644);
  std::filesystem::create_directories(folder + "/later");
  const std::string path = make("later/two", 0755);

  EXPECT_EQ(find_program("two", folder + ":" + folder + "/later").value(), path);
}

TEST_F(Program, DynamicProgramsAndScriptsAreServed) {
  EXPECT_EQ(why_not_served("/bin/sh"), std::nullopt);
  EXPECT_EQ(why_not_served(make("script", 0755)), std::nullopt);
}

TEST_F(Program, StaticProgramIsNotServed) {
  // An ELF header without a single segment: no loader is named.
  std::string header(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  header.resize(64, '\0');

  const auto why = why_not_served(make("static", 0755, header));

  ASSERT_TRUE(why);
  EXPECT_NE(why->find("statically"), std::string::npos);
}

}  // namespace
}  // namespace anyrdma::sim
