#include "sim/machines/file_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace anyrdma::sim {
namespace {

namespace fs = std::filesystem;

class FileTree : public ::testing::Test {
 protected:
  FileTree() {
    std::string name = ::testing::TempDir() + "file_tree.XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) directory_ = name;
  }
  ~FileTree() override { fs::remove_all(directory_); }
  [[nodiscard]] std::string text_of(const std::string& path) const {
    std::ifstream file(directory_ + path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string directory_;
};

TEST_F(FileTree, HasALineInEachFileAndNothingInFoldersAndEmptyFiles) {
  ASSERT_TRUE(write_tree(directory_, {{"/sys/a/b", "text"}, {"/sys/a/c", ""}, {"/sys/d/e/", ""}}));
  EXPECT_EQ(text_of("/sys/a/b"), "text\n");
  EXPECT_EQ(text_of("/sys/a/c"), "");
  EXPECT_TRUE(fs::is_empty(directory_ + "/sys/d/e"));
}

TEST_F(FileTree, HasNodesThatTakeWhatIsWritten) {
  ASSERT_TRUE(write_tree(directory_, {{"/dev/infiniband/rdma_cm", ""}}));
  struct stat status {};
  ASSERT_EQ(::stat((directory_ + "/dev/infiniband/rdma_cm").c_str(), &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(FileTree, IsNotMadeWhereAFileIsInTheWay) {
  ASSERT_TRUE(write_tree(directory_, {{"/sys", "a file"}}));
  EXPECT_FALSE(write_tree(directory_, {{"/sys/a/b", "text"}}));
  EXPECT_FALSE(write_tree(directory_ + "/sys", {{"/dev/null", ""}}));
}

}  // namespace
}  // namespace anyrdma::sim
