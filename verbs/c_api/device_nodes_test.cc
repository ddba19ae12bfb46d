// What a program sees of device nodes that are not there. The functions stand in libc's place here,
// too.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace anyrdma {
namespace {

constexpr const char* kNode = "/dev/infiniband/uverbs4711";  // no machine has so many
/// Not a constant: calls with a null pointer are what is tested.
const char* volatile no_path = nullptr;

/// Errno of a call that says -1; 0: it went well.
int error_of(int result) {
  return result == 0 ? 0 : errno;
}

TEST(DeviceNodes, AreCharacterDevicesForAll) {
  struct stat status {};
  ASSERT_EQ(error_of(::stat(kNode, &status)), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  struct stat64 status64 {};
  ASSERT_EQ(error_of(::stat64(kNode, &status64)), 0);
  EXPECT_TRUE(S_ISCHR(status64.st_mode));
  EXPECT_EQ(error_of(::access(kNode, R_OK | W_OK)), 0);
}

TEST(DeviceNodes, AreNoPrograms) {
  EXPECT_EQ(error_of(::access(kNode, X_OK)), EACCES);
}

TEST(DeviceNodes, OfOtherKindsStayAway) {
  struct stat status {};
  for (const char* path : {"/dev/infiniband/uverbs", "/dev/infiniband/uverbs0x",
                           "/dev/infiniband/umad4711", "/dev/infiniband/uverbs4711/.", ""}) {
    EXPECT_EQ(error_of(::stat(path, &status)), ENOENT) << path;
    EXPECT_EQ(error_of(::access(path, F_OK)), ENOENT) << path;
  }
}

TEST(DeviceNodes, DoNotDisturbOtherPaths) {
  struct stat status {};
  ASSERT_EQ(error_of(::stat("/proc/self", &status)), 0);
  EXPECT_TRUE(S_ISDIR(status.st_mode));
  EXPECT_EQ(error_of(::access("/proc/self/stat/below", F_OK)), ENOTDIR);
  EXPECT_EQ(error_of(::stat(no_path, &status)), EFAULT);
  EXPECT_EQ(error_of(::access(no_path, F_OK)), EFAULT);
}

}  // namespace
}  // namespace anyrdma
