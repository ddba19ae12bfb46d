// The files of an administrator.
#include "cm/rsocket/defaults.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace anyrdma::rsocket {
namespace {

class AdministratorsFiles : public ::testing::Test {
 protected:
  AdministratorsFiles() { std::filesystem::create_directories(folder); }
  ~AdministratorsFiles() override { std::filesystem::remove_all(folder); }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder / name) << text;
  }
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "rsocket_defaults_test";
};

TEST_F(AdministratorsFiles, ThatAreMissingLeaveTheDefaults) {
  const Settings settings = settings_in(folder / "nothing");

  EXPECT_EQ(settings.sizes.receive_buffer, 131072U);
  EXPECT_EQ(settings.sizes.receive_queue, 384U);
  EXPECT_EQ(settings.mappings, 0U);
}

TEST_F(AdministratorsFiles, SetEachSize) {
  write("mem_default", "1000001\n");
  write("wmem_default", "65536\n");
  write("sqsize_default", "100\n");
  write("rqsize_default", "200");
  write("inline_default", "16\n");
  write("iomap_size", "8\n");

  const Settings settings = settings_in(folder);

  EXPECT_EQ(settings.sizes.receive_buffer, 1000000U);
  EXPECT_EQ(settings.sizes.send_buffer, 65536U);
  EXPECT_EQ(settings.sizes.send_queue, 100U);
  EXPECT_EQ(settings.sizes.receive_queue, 200U);
  EXPECT_EQ(settings.inline_data, 16U);
  EXPECT_EQ(settings.mappings, 8U);
}

TEST_F(AdministratorsFiles, WithNonsenseSetWhatIsPossible) {
  write("mem_default", "0\n");
  write("wmem_default", "99999999999999999999999\n");
  write("sqsize_default", "many\n");
  write("rqsize_default", "1000000\n");
  write("iomap_size", "");

  const Settings settings = settings_in(folder);

  EXPECT_EQ(settings.sizes.receive_buffer, 4096U);
  EXPECT_EQ(settings.sizes.send_buffer, 131072U);
  EXPECT_EQ(settings.sizes.send_queue, 384U);
  EXPECT_EQ(settings.sizes.receive_queue, kLargestQueue);
  EXPECT_EQ(settings.mappings, 0U);
}

}  // namespace
}  // namespace anyrdma::rsocket
